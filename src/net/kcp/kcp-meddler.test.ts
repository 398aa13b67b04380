import { expect, test } from "vitest";
import { ipAddress } from "../../platform/socket-address.ts";
import type { DatagramFd, DatagramPeer } from "../fd.ts";
import { MemoryProvider } from "../memory/memory-provider.ts";
import { SelectorEventLoop } from "../selector-event-loop.ts";
import { SERVER, World } from "./kcp-world.fixture.ts";
import { renderReset } from "./reset-token.ts";
import { TYPE } from "./wire-form.ts";

const MEDDLER = ipAddress("10.0.0.3", 4000);

/**
 * Stands between client and server: passes on what `meddle` makes of each datagram.
 * @returns what the client has sent so far
 */
function standBetween(world: World, meddle: (datagram: Buffer) => readonly Buffer[]): Buffer[] {
  const provider = new MemoryProvider(world.hosts.add("m", ["10.0.0.3"]));
  const onError = (error: unknown): void => {
    throw error;
  };
  const loop = new SelectorEventLoop({ provider, onError });
  loop.start();
  const fromClient: Buffer[] = [];
  const front = provider.bindDatagram(MEDDLER);
  const back = provider.bindDatagram(ipAddress("10.0.0.3", 4001));
  let client: DatagramPeer | undefined;
  const pass = (datagram: Buffer, to: DatagramFd, peer: DatagramPeer | undefined): void => {
    for (const made of meddle(datagram)) to.queue(made, peer);
    to.flush();
  };
  takeAll(loop, front, (datagram, sender) => {
    client = sender;
    fromClient.push(datagram);
    pass(datagram, back, back.peer(SERVER));
  });
  takeAll(loop, back, (datagram) => pass(datagram, front, client));
  return fromClient;
}

function takeAll(
  loop: SelectorEventLoop,
  fd: DatagramFd,
  take: (datagram: Buffer, sender: DatagramPeer) => void,
): void {
  loop.add(fd, {
    onReady: () => {
      for (let count = fd.receive(); count > 0; count = fd.receive()) {
        for (let index = 0; index < count; index += 1) {
          take(Buffer.from(fd.datagram(index)), fd.sender(index));
        }
      }
    },
    onRemoved: () => fd.close(),
  });
}

function changed(datagram: Buffer, at: number): Buffer {
  const copy = Buffer.from(datagram);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

test("datagrams that are changed or repeated on their way are dropped and counted", () => {
  const world = new World({ latencyMs: 5 });
  const [client, server] = [world.end("10.0.0.1", 1), world.end("10.0.0.2", 1)];
  world.echo(server);
  let turn = 0;
  standBetween(world, (datagram) => {
    turn += 1;
    // Somewhere behind the type and the numbers that lead it to its tunnel.
    const at = 12 + (turn % (datagram.length - 12));
    return [changed(datagram, at), datagram, datagram];
  });
  const text = "what is said ".repeat(2000);
  const call = world.say(client, text, MEDDLER);
  world.until(() => call.result === 0);
  expect(call.heard).toBe(text);
  for (const { provider } of [client, server]) {
    const { forgedDatagrams, replayedDatagrams, handshakes } = provider.engine.counters;
    expect(forgedDatagrams).toBeGreaterThan(5);
    expect(replayedDatagrams).toBeGreaterThan(5);
    expect(handshakes).toBe(1);
  }
});

test("all of a session said again by another one opens nothing and moves nobody", () => {
  const world = new World({ latencyMs: 5 });
  const [client, server] = [world.end("10.0.0.1", 1), world.end("10.0.0.2", 1)];
  world.echo(server);
  const seen = standBetween(world, (datagram) => [datagram]);
  const first = world.say(client, "a secret", MEDDLER);
  world.until(() => first.result === 0);
  expect(seen.some((datagram) => datagram.includes("secret"))).toBe(false);
  const { counters } = server.provider.engine;
  const bytesOut = counters.bytesOut;
  const other = new MemoryProvider(world.hosts.add("c", ["10.0.0.4"]));
  const socket = other.bindDatagram(ipAddress("10.0.0.4", 9));
  for (const datagram of seen) socket.queue(datagram, socket.peer(SERVER));
  socket.flush();
  world.network.clock.advance(100);
  expect(socket.receive()).toBeLessThanOrEqual(0);
  expect(counters.replayedDatagrams).toBeGreaterThan(0);
  expect([counters.handshakes, counters.tunnels]).toEqual([1, 1]);
  expect(counters.bytesOut - bytesOut).toBeLessThan(200);
  const second = world.say(client, "still here", MEDDLER);
  world.until(() => second.result === 0);
  expect(second.heard).toBe("still here");
});

test("handshakes that nobody finishes are forgotten, however many they are", () => {
  const world = new World({ latencyMs: 5 });
  const server = world.end("10.0.0.2", 1);
  world.echo(server);
  // They know the secret, and never hear the answer.
  standBetween(world, (datagram) => (datagram[0] === 1 ? [datagram] : []));
  for (let count = 0; count < 50; count += 1) {
    const client = world.end("10.0.0.1", 1);
    const call = world.say(client, "hello", MEDDLER);
    world.until(() => call.result < 0);
    client.loop.close();
  }
  world.network.clock.advance(10_000);
  expect(server.provider.engine.tunnelCount).toBe(0);
  expect(server.provider.engine.counters.tunnels).toBe(0);
});

/** What a loop of the server says that does not know the session of this datagram. */
function resetFor(datagram: Buffer): Buffer {
  return renderReset(Buffer.alloc(32, 1), datagram.readUInt32LE(8));
}

test("genuine resets for what was repeated to another loop of the server end nothing", () => {
  const world = new World({ latencyMs: 5 });
  const [client, server] = [world.end("10.0.0.1", 1), world.end("10.0.0.2", 1)];
  world.echo(server);
  let resets = 0;
  const seen = standBetween(world, (datagram) => {
    const last = seen.at(-1);
    if (last === undefined || last[0] !== TYPE.SEALED) return [datagram];
    resets += 1;
    return [resetFor(last), datagram, resetFor(last)];
  });
  const text = "what is said ".repeat(2000);
  const call = world.say(client, text, MEDDLER);
  world.until(() => call.result !== 1);
  expect([call.result, call.heard === text]).toEqual([0, true]);
  expect(resets).toBeGreaterThan(20);
  const { handshakes, lostTunnels, tunnels } = client.provider.engine.counters;
  expect([handshakes, lostTunnels, tunnels]).toEqual([1, 0, 1]);
});

test("a tunnel that says nothing by itself outlives resets, though a fifth of all is lost each way", () => {
  const world = new World({ latencyMs: 25 });
  const [client, server] = [world.end("10.0.0.1", 1), world.end("10.0.0.2", 1)];
  world.echo(server);
  let isReset = false;
  const seen = standBetween(world, (datagram) => {
    const last = seen.at(-1);
    // With an answer of the server: what goes the other way does not come to the client.
    if (!isReset || last === undefined || last === datagram) return [datagram];
    isReset = false;
    return [datagram, resetFor(last)];
  });
  const first = world.say(client, "hello", MEDDLER);
  world.until(() => first.result === 0);
  world.network.change({ lossRate: 0.1 });
  for (let second = 0; second < 100; second += 1) {
    isReset = true;
    const call = world.say(client, `${second}`, MEDDLER);
    world.until(() => call.result !== 1);
    expect([call.result, call.heard]).toEqual([0, `${second}`]);
    world.network.clock.advance(1000);
  }
  const { handshakes, lostTunnels } = client.provider.engine.counters;
  expect([handshakes, lostTunnels]).toEqual([1, 0]);
});
