import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { allocateNative } from "../../platform/linux/native-memory.ts";
import { loadAead } from "../../platform/linux/openssl/aead-calls.ts";
import { AeadKey } from "../../platform/linux/openssl/aead-key.ts";
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
});
