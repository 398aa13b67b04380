import { expect, test } from "vitest";
import { ERRNO } from "../platform/errno.ts";
import { ipAddress, type SocketAddress } from "../platform/socket-address.ts";
import { Acceptor } from "./acceptor.ts";
import { FakeStream } from "./fake-stream.fixture.ts";
import type { ServerFd, StreamFd } from "./fd.ts";
import { MemoryHosts } from "./memory/memory-host.ts";
import { MemoryProvider } from "./memory/memory-provider.ts";
import { SimulatedNetwork } from "./memory/simulated-network.ts";
import { SelectorEventLoop } from "./selector-event-loop.ts";

/** A server whose `accept` gives what the test says: connections, or negative errnos. */
class FakeServer implements ServerFd {
  acceptError = 0;
  isClosed = false;
  readonly attachments: string[] = [];
  readonly gives: number[];

  constructor(...gives: readonly number[]) {
    this.gives = [...gives];
  }

  accept(): StreamFd | undefined {
    const next = this.gives.shift() ?? 0;
    this.acceptError = Math.min(0, next);
    return next > 0 ? new FakeStream({}) : undefined;
  }

  finishOpen(): number {
    return 0;
  }

  localAddress(): SocketAddress {
    return ipAddress("127.0.0.1", 80);
  }

  close(): void {
    this.isClosed = true;
  }

  attach(): number {
    this.attachments.push("attached");
    return 0;
  }

  detach(): void {
    this.attachments.push("detached");
  }

  noteReady(): void {
    // `accept` tells.
  }
}

function setting(fd: FakeServer): {
  acceptor: Acceptor;
  network: SimulatedNetwork;
  loop: SelectorEventLoop;
  told: string[];
} {
  const network = new SimulatedNetwork({ seed: 1 });
  const provider = new MemoryProvider(new MemoryHosts(network).add("a", ["10.0.0.1"]));
  const loop = new SelectorEventLoop({
    provider,
    onError: (error) => {
      throw error;
    },
  });
  loop.start();
  const told: string[] = [];
  const acceptor = new Acceptor(loop, fd, {
    maxFds: 100,
    handler: {
      onConnection: () => void told.push("connection"),
      onPaused: (reason) => void told.push(`paused ${reason}`),
      onResumed: () => void told.push("resumed"),
      onRemoved: () => void told.push("removed"),
    },
  });
  return { acceptor, network, loop, told };
}

test("takes what waits, up to a number, so that others have their turn", () => {
  const { acceptor, told } = setting(new FakeServer(...new Array<number>(100).fill(1)));
  acceptor.onReady();
  expect(told).toHaveLength(64);
  acceptor.onReady();
  expect(acceptor.accepted).toBe(100);
});

test("pauses where descriptors are used up, says why, and goes on", () => {
  const server = new FakeServer(1, -ERRNO.EMFILE, 1);
  const { acceptor, network, told } = setting(server);
  acceptor.onReady();
  expect(told).toEqual(["connection", `paused ${-ERRNO.EMFILE}`]);
  expect(server.attachments).toEqual(["attached", "detached"]);
  network.clock.advance(100);
  expect(server.attachments).toEqual(["attached", "detached", "attached"]);
  acceptor.onReady();
  expect(told).toEqual(["connection", `paused ${-ERRNO.EMFILE}`, "connection"]);
});

test("pauses one after the other are told once, and their end once it is calm", () => {
  const busy = Array.from({ length: 50 }, () => [1, -ERRNO.EMFILE]).flat();
  const { acceptor, network, told } = setting(new FakeServer(...busy));
  for (let turn = 0; turn < 50; turn += 1) {
    acceptor.onReady();
    network.clock.advance(100);
  }
  const edges = (): string[] => told.filter((line) => line !== "connection");
  expect(acceptor.accepted).toBe(50);
  expect(edges()).toEqual([`paused ${-ERRNO.EMFILE}`]);
  network.clock.advance(4800);
  expect(edges()).toEqual([`paused ${-ERRNO.EMFILE}`]);
  network.clock.advance(10_000);
  expect(edges()).toEqual([`paused ${-ERRNO.EMFILE}`, "resumed"]);
});

test("a pause after it was calm is told again", () => {
  const server = new FakeServer(-ERRNO.EMFILE);
  const { acceptor, network, told } = setting(server);
  acceptor.onReady();
  network.clock.advance(10_000);
  server.gives.push(-ERRNO.ENFILE);
  acceptor.onReady();
  expect(told).toEqual([`paused ${-ERRNO.EMFILE}`, "resumed", `paused ${-ERRNO.ENFILE}`]);
});

test("closed while it pauses, it does not come back", () => {
  const server = new FakeServer(-ERRNO.ENFILE);
  const { acceptor, network, told } = setting(server);
  acceptor.onReady();
  acceptor.close();
  network.clock.advance(10_000);
  expect(server.isClosed).toBe(true);
  expect(told).toEqual([`paused ${-ERRNO.ENFILE}`]);
  expect(server.attachments).toEqual(["attached", "detached"]);
});

test("the end of the loop closes the server and tells the handler", () => {
  const server = new FakeServer();
  const { loop, told } = setting(server);
  loop.close();
  expect(server.isClosed).toBe(true);
  expect(told).toEqual(["removed"]);
});
