import { closeSync, existsSync, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { ipAddress, type SocketAddress, unixAddress } from "../../platform/socket-address.ts";
import { EventLoopWrapper } from "../groups/event-loop-wrapper.ts";
import { SharedListener } from "./shared-listener.ts";
import type { BorrowingLoop } from "./socket-lending.ts";

/** A loop that only keeps what is lent to it. */
class BorrowerOnly implements BorrowingLoop {
  readonly name: string;
  readonly isRunning = true;
  readonly ended: Promise<{ error: undefined }> = new Promise(() => undefined);
  readonly lent = new Set<number>();

  constructor(name: string) {
    this.name = name;
  }

  lend(_listener: string, _transport: string, descriptor: number): void {
    this.lent.add(descriptor);
  }

  async takeBack(descriptor: number): Promise<void> {
    this.lent.delete(descriptor);
  }

  async channels(): Promise<readonly []> {
    return [];
  }

  async dismiss(): Promise<void> {
    // It has no channels.
  }

  async drain(): Promise<void> {
    // Nothing is ever open.
  }

  async stop(): Promise<void> {
    // It does not run.
  }
}

const LOOPBACK = ipAddress("127.0.0.1", 0);
const OPTIONS = { id: "web", transport: "stream", backlog: 16 } as const;

function open(on: SocketAddress): SharedListener<BorrowerOnly> {
  const listener = SharedListener.open<BorrowerOnly>(on, OPTIONS);
  onTestFinished(() => listener.close());
  return listener;
}

function loops(...names: readonly string[]): EventLoopWrapper<BorrowerOnly>[] {
  return names.map((name) => new EventLoopWrapper(new BorrowerOnly(name)));
}

const counts = (wrappers: readonly EventLoopWrapper<BorrowerOnly>[]): number[] =>
  wrappers.map(({ loop }) => loop.lent.size);

describe("a shared listener", requires("linux"), () => {
  test("has a socket for each loop, and gives those of a loop that goes to the others", async () => {
    const listener = open(LOOPBACK);
    const all = loops("a", "b", "c");
    for (const wrapper of all) await listener.onLoopAdded(wrapper);
    expect(counts(all)).toEqual([1, 1, 1]);
    const [first] = all;
    if (first === undefined) throw new Error("three loops");
    await listener.onLoopRemoved(first);
    expect(counts(all).sort()).toEqual([0, 1, 2]);
    // None was closed: what waits in it would be lost.
    expect(listener.descriptors()).toHaveLength(3);
    const [again] = loops("d");
    if (again === undefined) throw new Error("one loop");
    await listener.onLoopAdded(again);
    expect(again.loop.lent.size).toBe(1);
    expect(listener.descriptors()).toHaveLength(3);
  });

  test("keeps its sockets where no loop is left", async () => {
    const listener = open(LOOPBACK);
    const [only] = loops("a");
    if (only === undefined) throw new Error("one loop");
    await listener.onLoopAdded(only);
    await listener.onLoopRemoved(only);
    expect(only.loop.lent.size).toBe(0);
    expect(listener.descriptors()).toHaveLength(1);
  });

  test("for datagrams it has sockets as well, which another process can go on with", async () => {
    const options = { ...OPTIONS, transport: "datagram" } as const;
    const listener = SharedListener.open<BorrowerOnly>(LOOPBACK, options);
    const all = loops("a", "b");
    for (const wrapper of all) await listener.onLoopAdded(wrapper);
    expect(counts(all)).toEqual([1, 1]);
    expect(() => SharedListener.open(listener.address, options)).toThrow("EADDRINUSE");
    const [first, ...others] = listener.descriptors();
    if (first === undefined) throw new Error("two sockets");
    const adopted = SharedListener.adopt<BorrowerOnly>([first, ...others], options);
    expect(adopted.address).toEqual(listener.address);
    await listener.close();
    expect(counts(all)).toEqual([0, 0]);
  });

  test("changes that come at once are made one after another", async () => {
    const listener = open(LOOPBACK);
    const all = loops("a", "b", "c", "d");
    await Promise.all(all.map((wrapper) => listener.onLoopAdded(wrapper)));
    expect(counts(all)).toEqual([1, 1, 1, 1]);
  });

  test("released by two at once it closes nothing of others", async () => {
    const listener = open(LOOPBACK);
    const [only] = loops("a");
    if (only === undefined) throw new Error("one loop");
    await listener.onLoopAdded(only);
    const [descriptor] = listener.descriptors();
    const first = listener.release().then(() => openSync("/dev/null", "r"));
    await listener.release();
    const opened = await first;
    expect(opened).toBe(descriptor);
    expect(() => closeSync(opened)).not.toThrow();
  });

  test("an address that another has is refused, also where it shares it", () => {
    const listener = open(LOOPBACK);
    expect(() => open(listener.address)).toThrow(/EADDRINUSE; .+ \(pid \d+\) listens there/);
    expect(() => open(ipAddress("192.0.2.1", 80))).toThrow(/no such address/);
  });

  test("a unix socket is lent to all loops; its file goes with it, and a stale one is replaced", async () => {
    const folder = await mkdtemp(join(tmpdir(), "portolan-listener-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "web.sock");
    const listener = open(unixAddress(path));
    const all = loops("a", "b");
    for (const wrapper of all) await listener.onLoopAdded(wrapper);
    expect(counts(all)).toEqual([1, 1]);
    expect(listener.descriptors()).toHaveLength(1);
    expect(() => open(unixAddress(path))).toThrow("EADDRINUSE");
    await listener.release();
    expect(counts(all)).toEqual([0, 0]);
    expect(existsSync(path)).toBe(true);
    const next = open(unixAddress(path));
    await next.close();
    expect(existsSync(path)).toBe(false);
  });
});
