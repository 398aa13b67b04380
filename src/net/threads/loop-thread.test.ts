import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { localAddressOf } from "../../platform/linux/socket-names.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { openListening } from "../posix/open-socket.ts";
import type { EchoCommand } from "./echo-program.fixture.ts";
import { sourceHost } from "./loop-thread.fixture.ts";
import { LoopThread, type LoopThreadHost, type LoopThreadOptions } from "./loop-thread.ts";

const PROGRAM = new URL("./echo-program.fixture.ts", import.meta.url);

function testHost(): ReturnType<typeof sourceHost> {
  const host = sourceHost();
  onTestFinished(() => host.guard.dispose());
  return host;
}

class Reports {
  readonly #got: unknown[] = [];
  #wake: () => void = () => undefined;

  readonly add = (body: unknown): void => {
    this.#got.push(body);
    this.#wake();
  };

  async next(): Promise<unknown> {
    while (this.#got.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#got.shift();
  }
}

async function startLoop(
  host: LoopThreadHost,
  options: Partial<LoopThreadOptions> = {},
): Promise<{ loop: LoopThread; reports: Reports; send: (command: EchoCommand) => void }> {
  const reports = new Reports();
  const loop = await LoopThread.start(host, {
    name: "loop-1",
    program: PROGRAM,
    maxFds: 1000,
    onReport: reports.add,
    ...options,
  });
  onTestFinished(async () => {
    await loop.stop();
  });
  return { loop, reports, send: (command) => loop.send(command) };
}

/** A listening socket of the main thread's, and its port. */
function listening(): { descriptor: number; port: number } {
  const { descriptor } = openListening(ipAddress("127.0.0.1", 0), { backlog: 128, shared: false });
  onTestFinished(() => {
    close(descriptor);
  });
  const address = localAddressOf(descriptor);
  return { descriptor, port: address.family === "unix" ? 0 : address.port };
}

async function dial(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  onTestFinished(() => {
    socket.destroy();
  });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

async function ask(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [bytes] = await once(socket, "data");
  return String(bytes);
}

describe("a loop on a thread", requires("linux"), () => {
  test("passes messages while it is blocked, and stops", async () => {
    const { loop, reports, send } = await startLoop(testHost());
    send({ kind: "echo", text: "hello" });
    expect(await reports.next()).toBe("loop-1: hello");
    expect(loop.isRunning).toBe(true);
    expect(await loop.stop()).toEqual({ error: undefined });
    expect(loop.isRunning).toBe(false);
    await expect(loop.channels()).rejects.toThrow("event loop loop-1 has ended");
  });

  test("serves a listening socket that is lent to it, until it is taken back", async () => {
    const { loop } = await startLoop(testHost());
    const { descriptor, port } = listening();
    loop.lend("web", "stream", descriptor);
    const socket = await dial(port);
    expect(await ask(socket, "one")).toBe("one");
    await loop.takeBack(descriptor);
    // It waits in the socket, which is not closed: lent again, it is served.
    const waiting = await dial(port);
    expect(await ask(socket, "two")).toBe("two");
    loop.lend("web", "stream", descriptor);
    expect(await ask(waiting, "three")).toBe("three");
  });

  test("lists its channels and closes one by its id", async () => {
    const { loop } = await startLoop(testHost());
    const { descriptor, port } = listening();
    loop.lend("web", "stream", descriptor);
    const socket = await dial(port);
    await ask(socket, "12345");
    const channels = await loop.channels();
    expect(channels.map(({ kind }) => kind)).toEqual(["listener", "connection"]);
    const connection = channels.find(({ kind }) => kind === "connection");
    expect(connection).toMatchObject({
      bytesIn: 5,
      local: { ip: "127.0.0.1", port },
      remote: { ip: "127.0.0.1", port: socket.localPort },
    });
    if (connection === undefined) throw new Error("not listed");
    const closed = once(socket, "close");
    await loop.dismiss(connection.id);
    await closed;
    await expect(loop.dismiss(connection.id)).rejects.toMatchObject({ code: "ERR_NOT_FOUND" });
  });

  test("counts in shared memory", async () => {
    const { loop, reports, send } = await startLoop(testHost());
    send({ kind: "echo", text: "hello" });
    await reports.next();
    // A round is counted at its end, which may come after what it reports.
    await expect.poll(() => loop.stats().events, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(loop.stats().rounds).toBeGreaterThan(0);
  });

  test.each([
    { alwaysSleeps: false, how: "stays awake" },
    { alwaysSleeps: true, how: "sleeps" },
  ])("$how between the requests of one connection", async ({ alwaysSleeps }) => {
    const { loop } = await startLoop(testHost(), { alwaysSleeps });
    const { descriptor, port } = listening();
    loop.lend("web", "stream", descriptor);
    const socket = await dial(port);
    for (let request = 0; request < 200; request += 1) await ask(socket, "ping");
    expect(loop.stats().looks > 0).toBe(!alwaysSleeps);
  });

  test("reports what a callback throws, and goes on", async () => {
    const host = testHost();
    const { reports, send } = await startLoop(host);
    send({ kind: "throw" });
    send({ kind: "echo", text: "still here" });
    expect(await reports.next()).toBe("loop-1: still here");
    const line = host.lines.find(({ level }) => level === "error");
    expect(line?.fields).toMatchObject({ loop: "loop-1", err: { message: "thrown on purpose" } });
  });

  test("logs to the main thread, and no more than it can take", async () => {
    const host = testHost();
    const { reports, send } = await startLoop(host, { programData: { greeting: "hi" } });
    send({ kind: "log-many", count: 10_000 });
    send({ kind: "echo", text: "done" });
    await reports.next();
    expect(host.lines[0]).toMatchObject({
      level: "info",
      message: "echo program is here",
      fields: { loop: "loop-1", data: { greeting: "hi" } },
    });
    expect(host.lines.length).toBeGreaterThan(100);
    expect(host.lines.length).toBeLessThan(1000);
  });

  test("sends to another loop directly, as long as they are linked", async () => {
    const host = testHost();
    const one = await startLoop(host, { name: "one" });
    const two = await startLoop(host, { name: "two" });
    one.loop.link(two.loop);
    one.send({ kind: "tell-peer", loop: "two", text: "psst" });
    expect(await two.reports.next()).toBe("two from one: psst");
    await one.loop.unlink(two.loop);
    one.send({ kind: "tell-peer", loop: "two", text: "lost" });
    one.send({ kind: "echo", text: "end" });
    expect(await one.reports.next()).toBe("one: end");
  });

  test("hands connections to another loop, which has them until it ends", async () => {
    const host = testHost();
    const one = await startLoop(host, { name: "one" });
    const two = await startLoop(host, { name: "two" });
    const { descriptor, port } = listening();
    one.loop.lend("web", "stream", descriptor);
    one.send({ kind: "hand-to", loop: "two" });
    const kept = await dial(port);
    expect(await ask(kept, "not linked yet")).toBe("not linked yet");
    one.loop.link(two.loop);
    const handed = await dial(port);
    expect(await ask(handed, "hello")).toBe("hello");
    expect(await two.reports.next()).toBe("two got one from the other");
    const closed = once(handed, "close");
    await two.loop.stop();
    await closed;
    // Whether it knows already or not: nothing hangs.
    const late = await dial(port);
    late.write("anybody?");
    await one.loop.unlink(two.loop);
    await new Promise((resolve) => late.once("close", resolve).once("data", resolve));
    expect(await ask(kept, "still here")).toBe("still here");
  });

  test("gives a CPU profile from inside", async () => {
    const { loop } = await startLoop(testHost());
    const profile: unknown = JSON.parse(await loop.profile(20));
    expect(profile).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) });
  });

  test("is drained when its last connection has ended", async () => {
    const { loop } = await startLoop(testHost());
    const { descriptor, port } = listening();
    loop.lend("web", "stream", descriptor);
    const socket = await dial(port);
    await ask(socket, "x");
    await loop.takeBack(descriptor);
    let isDrained = false;
    const drained = loop.drain().then(() => {
      isDrained = true;
    });
    expect(await ask(socket, "still served")).toBe("still served");
    expect(isDrained).toBe(false);
    socket.destroy();
    await drained;
  });

  test("a module that runs no program is refused", async () => {
    const program = new URL("./worker-url.ts", import.meta.url);
    await expect(
      LoopThread.start(testHost(), { name: "bad", program, maxFds: 10 }),
    ).rejects.toMatchObject({ code: "ERR_LOOP_ENDED", message: "event loop bad has ended" });
  });

  test.each([
    { how: "die" as const, reason: /ended by itself \(3\)/ },
    { how: "eat-heap" as const, reason: /memory/i },
  ])("one that dies ($how) leaves no descriptor open", async ({ how, reason }) => {
    const host = testHost();
    const { loop, send } = await startLoop(host, { maxHeapMb: 40 });
    const { descriptor, port } = listening();
    loop.lend("web", "stream", descriptor);
    const socket = await dial(port);
    await ask(socket, "x");
    const closed = once(socket, "close");
    send({ kind: how });
    const { error } = await loop.ended;
    expect(error?.message).toMatch(reason);
    // The main thread closed what the loop had open, so the peer sees the end.
    await closed;
    // The listening socket is the main thread's: another loop goes on with it.
    const second = await startLoop(host, { name: "loop-2" });
    second.loop.lend("web", "stream", descriptor);
    expect(await ask(await dial(port), "again")).toBe("again");
  });
});
