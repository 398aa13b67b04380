import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { allocateNative } from "../../platform/linux/native-memory.ts";
import { loadAead } from "../../platform/linux/openssl/aead-calls.ts";
import { AeadKey } from "../../platform/linux/openssl/aead-key.ts";
import { KernelSession } from "../kernel-path/kernel-session.ts";
import { MAX_COUNTER, RECORD } from "../kernel-path/layout.ts";
import { SharedRecord } from "../kernel-path/shared-record.ts";
import { Session } from "./session.ts";

const BYTES = 20;

describe("a session", requires("linux"), () => {
  test("takes each message once, none that was changed, and none beyond its limit", () => {
    const aead = loadAead();
    const key = new Uint8Array(32).fill(7);
    const session = new Session({
      node: "b",
      mode: "secure",
      isInitiator: false,
      createdMs: 0,
      localIndex: 1,
      remoteIndex: 2,
      sealing: new AeadKey(aead, key, "seal"),
      opening: new AeadKey(aead, key, "open"),
      maxMessages: 100,
    });
    onTestFinished(() => session.free());
    const memory = allocateNative(128);
    const take = (counter: number, change = 0): boolean => {
      session.sealing.seal(counter, memory.address, BYTES, memory.address + 64);
      memory.bytes[64] = (memory.bytes[64] ?? 0) ^ change;
      return session.open(counter, memory.address + 64, BYTES);
    };
    expect([take(5), take(3), take(5), take(3), take(4, 1), take(4)]).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
    ]);
    expect([session.isNewest(5), session.isNewest(4)]).toEqual([true, false]);
    expect([take(100), take(2 ** 53), take(99)]).toEqual([false, false, true]);
  });

  test("with a record it counts and takes beside others, and wears out in time", () => {
    const aead = loadAead();
    const memory = new ArrayBuffer(RECORD.bytes);
    const key = Buffer.alloc(32, 7);
    const released: number[] = [];
    const shared = new KernelSession(
      new SharedRecord(memory, 0),
      { sealing: key, opening: key },
      ({ sealingKey }) => released.push(sealingKey[0] ?? 0),
    );
    const session = new Session({
      node: "b",
      mode: "secure",
      isInitiator: false,
      createdMs: 0,
      localIndex: 1,
      remoteIndex: 2,
      sealing: new AeadKey(aead, key, "seal"),
      opening: new AeadKey(aead, key, "open"),
      shared,
    });
    const sealed = allocateNative(64);
    const take = (counter: number): boolean => {
      session.sealing.seal(counter, sealed.address, BYTES, sealed.address);
      return session.open(counter, sealed.address, BYTES);
    };
    const other = new SharedRecord(memory, 0);
    expect([session.takeCounter(), other.give(), session.takeCounter()]).toEqual([0, 1, 2]);
    expect([take(5), other.take(5), other.take(6), take(6)]).toEqual([true, false, true, false]);
    expect([session.isNewest(5), session.isNewest(6)]).toEqual([false, true]);
    const [counter] = new Int32Array(memory, RECORD.counter, 1).fill(MAX_COUNTER / 2 - 1);
    expect([counter, session.isWorn]).toEqual([MAX_COUNTER / 2 - 1, false]);
    session.takeCounter();
    expect([session.isWorn, session.isUsable(0)]).toEqual([true, true]);
    new Int32Array(memory, RECORD.counter, 1).fill(MAX_COUNTER);
    expect([session.isUsable(0), take(MAX_COUNTER)]).toEqual([false, false]);
    session.free();
    expect([released, shared.sealingKey[0], shared.openingKey[0]]).toEqual([[7], 0, 0]);
  });
});
