import { expect, test } from "vitest";
import { ERRNO } from "../../platform/errno.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { FRAME } from "../../wire/http2/protocol.ts";
import { SEGMENT_HEADER_BYTES } from "../../wire/kcp/segment.ts";
import { MemoryProvider } from "../memory/memory-provider.ts";
import { SERVER, World } from "./kcp-world.fixture.ts";
import { type CreateSealer, createNodeSealer } from "./sealer.ts";
import { LEAST_WINDOW_BYTES } from "./tunnel-frames.ts";

test("a thousand streams pass a bad line in one tunnel, and nothing of them is left", () => {
  const world = new World({ latencyMs: 20, jitterMs: 10, lossRate: 0.05 });
  const [client, server] = [world.end("10.0.0.1", 1), world.end("10.0.0.2", 1)];
  world.echo(server);
  const text = (index: number): string => `${index} `.repeat(100);
  const calls = Array.from({ length: 1000 }, (_, index) => world.say(client, text(index)));
  world.until(() => calls.every(({ result }) => result === 0));
  expect(calls.map(({ heard }) => heard)).toEqual(calls.map((_, index) => text(index)));
  expect(client.provider.engine.tunnelCount).toBe(1);
  expect(client.loop.size).toBe(0);
  expect(server.loop.size).toBe(1);
  // Without streams a client's tunnel ends by itself, and the server's with it.
  world.network.change({ lossRate: 0 });
  world.network.clock.advance(120_000);
  expect(client.provider.engine.tunnelCount).toBe(0);
  expect(server.provider.engine.tunnelCount).toBe(0);
});

test("streams beyond what a tunnel holds get another one", () => {
  const world = new World({ latencyMs: 5 });
  const limit = { maxStreams: 3 };
  const client = world.end("10.0.0.1", 1, limit);
  const server = world.end("10.0.0.2", 1, limit);
  world.echo(server);
  const calls = Array.from({ length: 10 }, (_, index) => world.say(client, `${index}`));
  expect(client.provider.engine.counters.tunnels).toBe(0);
  world.until(() => calls.every(({ result }) => result === 0));
  expect(calls.map(({ heard }) => heard).join("")).toBe("0123456789");
  expect(client.provider.engine.counters.handshakes).toBe(4);
  client.loop.close();
  world.until(() => server.provider.engine.counters.tunnels === 0);
});

test("with another secret there is no answer, only counts", () => {
  const world = new World({ latencyMs: 5 });
  const [client, server] = [world.end("10.0.0.1", 1), world.end("10.0.0.2", 2)];
  world.echo(server);
  const call = world.say(client, "hello");
  world.until(() => call.result < 0);
  expect(call.result).toBe(-ERRNO.ETIMEDOUT);
  const { refusedHandshakes, handshakes, bytesOut } = server.provider.engine.counters;
  expect(refusedHandshakes).toBeGreaterThan(1);
  expect([handshakes, bytesOut, server.provider.engine.tunnelCount]).toEqual([0, 0, 0]);
});

test("forged, changed and repeated datagrams change counters and nothing else", () => {
  const world = new World({ latencyMs: 5 });
  const [client, server] = [world.end("10.0.0.1", 1), world.end("10.0.0.2", 1)];
  world.echo(server);
  const first = world.say(client, "hello");
  world.until(() => first.result === 0);
  const forger = new MemoryProvider(world.hosts.add("c", ["10.0.0.3"]));
  const socket = forger.bindDatagram(ipAddress("10.0.0.3", 9));
  const before = server.provider.engine.counters.forgedDatagrams;
  const send = (bytes: Uint8Array): void => {
    socket.queue(bytes, socket.peer(SERVER));
    socket.flush();
  };
  for (let type = 0; type < 6; type += 1) {
    for (const length of [0, 1, 7, 8, 12, 24, 60, 300, 1400, 1500])
      send(Buffer.alloc(length, type));
  }
  world.network.clock.advance(100);
  const { counters, tunnelCount } = server.provider.engine;
  expect(tunnelCount).toBe(1);
  expect(counters.strangeDatagrams + counters.refusedHandshakes).toBeGreaterThan(30);
  expect(counters.forgedDatagrams).toBe(before);
  const second = world.say(client, "still there");
  world.until(() => second.result === 0);
  expect(second.heard).toBe("still there");
  expect(counters.handshakes).toBe(1);
});

test("a server that forgot a tunnel says so, and the next stream makes another one", () => {
  const world = new World({ latencyMs: 5 });
  const client = world.end("10.0.0.1", 1);
  const old = world.end("10.0.0.2", 1);
  world.echo(old);
  const first = world.say(client, "hello");
  world.until(() => first.result === 0);
  // As one that is killed: it says no word.
  world.network.partition("a", "b");
  old.loop.close();
  world.network.clock.advance(50);
  world.network.heal("a", "b");
  world.echo(world.end("10.0.0.2", 1));
  const lost = world.say(client, "anyone?");
  world.until(() => lost.result < 0);
  expect([-ERRNO.ECONNRESET, -ERRNO.ECONNREFUSED]).toContain(lost.result);
  const next = world.say(client, "hello again");
  world.until(() => next.result === 0);
  expect(next.heard).toBe("hello again");
});

test("that a server forgot a tunnel is known long before silence alone would tell", () => {
  const world = new World({ latencyMs: 25 });
  const [client, old] = [world.end("10.0.0.1", 1), world.end("10.0.0.2", 1)];
  world.echo(old);
  const first = world.say(client, "hello");
  world.until(() => first.result === 0);
  world.network.partition("a", "b");
  old.loop.close();
  world.network.clock.advance(100);
  world.network.heal("a", "b");
  world.echo(world.end("10.0.0.2", 1));
  const startMs = world.network.clock.nowMs();
  const lost = world.say(client, "anyone?");
  world.until(() => lost.result < 0);
  // Six questions, each as long after the other as an answer takes at most.
  expect(world.network.clock.nowMs() - startMs).toBeLessThan(1500);
  expect(client.provider.engine.counters.lostTunnels).toBe(1);
});

test("an end that is silent is given up", () => {
  const world = new World({ latencyMs: 5 });
  const [client, server] = [world.end("10.0.0.1", 1), world.end("10.0.0.2", 1)];
  world.echo(server);
  const first = world.say(client, "hello");
  world.until(() => first.result === 0);
  world.network.partition("a", "b");
  const lost = world.say(client, "anyone?");
  world.until(() => lost.result < 0);
  expect(lost.result).toBe(-ERRNO.ETIMEDOUT);
  world.network.clock.advance(120_000);
  expect(server.provider.engine.tunnelCount).toBe(0);
});

test("a tunnel that its first packet ends is not counted as one that stands", () => {
  const world = new World({ latencyMs: 5 });
  const server = world.end("10.0.0.2", 1);
  world.echo(server);
  // The type of the first frame, behind the header of the segment: GOAWAY in place of SETTINGS.
  const createSealer: CreateSealer = (keys) => {
    const sealer = createNodeSealer(keys);
    return {
      ...sealer,
      seal: (counter, region, start, byteCount) => {
        region.bytes[start + SEGMENT_HEADER_BYTES + 3] = FRAME.GOAWAY;
        sealer.seal(counter, region, start, byteCount);
      },
    };
  };
  const call = world.say(world.end("10.0.0.1", 1, { createSealer }), "hello");
  world.until(() => call.result < 0);
  const { counters, tunnelCount } = server.provider.engine;
  expect([counters.tunnels, tunnelCount]).toEqual([0, 0]);
});

test("a server that listens no more still delivers what was said, and then lets the tunnel go", () => {
  const world = new World({ latencyMs: 50, lossRate: 0.1 });
  const [client, server] = [world.end("10.0.0.1", 1), world.end("10.0.0.2", 1)];
  const listening = world.echo(server);
  const text = "what is said ".repeat(2000);
  const call = world.say(client, text);
  world.until(() => server.loop.size === 2);
  // Its stream is closed, and most of the answer is on its way, or lost on it.
  world.until(() => server.loop.size === 1);
  expect(call.heard.length).toBeLessThan(text.length);
  listening.close();
  // Others who come meanwhile are refused, and keep nothing open.
  const late = world.say(client, "too late");
  world.until(() => call.result !== 1 && late.result !== 1);
  expect([call.heard === text, call.result]).toEqual([true, 0]);
  expect(late.result).toBe(-ERRNO.ECONNREFUSED);
  world.network.change({ lossRate: 0 });
  world.network.clock.advance(2000);
  expect(server.provider.engine.tunnelCount).toBe(0);
});

/** A stream whose reader does nothing by itself. @returns what it reads until nothing is left, and the last result */
function slowStream(world: World, client: ReturnType<World["end"]>, text: string) {
  const fd = client.provider.connect(SERVER);
  const bytes = new Uint8Array(Buffer.from(text));
  let isSaid = false;
  client.loop.add(fd, {
    onReady: () => {
      if (isSaid || fd.finishOpen() !== 0) return;
      fd.write({ bytes, address: 0 }, 0, bytes.length);
      isSaid = true;
    },
    onRemoved: () => fd.close(),
  });
  world.until(() => isSaid && fd.readable);
  const region = { bytes: new Uint8Array(65_536), address: 0 };
  const readAll = (): { heard: string; last: number } => {
    let heard = "";
    for (;;) {
      const count = fd.read(region, 0, region.bytes.length);
      if (count <= 0) return { heard, last: count };
      heard += Buffer.from(region.bytes.subarray(0, count)).toString();
    }
  };
  return { fd, readAll };
}

test.each([
  ["with its end", true, 0],
  ["without an end", false, -ERRNO.ECONNRESET],
])("what came %s before a tunnel ended can still be read", (_, isEnded, last) => {
  const world = new World({ latencyMs: 5 });
  const [client, server] = [world.end("10.0.0.1", 1), world.end("10.0.0.2", 1)];
  world.echo(server);
  const text = "said in time ".repeat(1000);
  const { fd, readAll } = slowStream(world, client, text);
  if (isEnded) fd.shutdownWrite();
  world.network.clock.advance(1000);
  server.loop.close();
  world.until(() => client.provider.engine.tunnelCount === 0);
  const read = readAll();
  expect(read.heard === text).toBe(true);
  expect(read.last).toBe(last);
  expect(fd.write({ bytes: new Uint8Array(1), address: 0 }, 0, 1)).toBe(-ERRNO.ECONNRESET);
});

test("readers that wait hold no more of a tunnel than its window, and others go on", () => {
  const world = new World({ latencyMs: 5, megabits: 100, queueMs: 50 });
  const limits = { tunnelWindowBytes: 1_000_000 };
  const client = world.end("10.0.0.1", 1, limits);
  const server = world.end("10.0.0.2", 1, limits);
  const listening = server.provider.listen(SERVER, { backlog: 4096 });
  const region = { bytes: new Uint8Array(65_536), address: 0 };
  const written: number[] = [];
  server.loop.add(listening, {
    onReady: () => {
      for (let fd = listening.accept(); fd !== undefined; fd = listening.accept()) {
        const stream = fd;
        const index = written.push(0) - 1;
        server.loop.add(stream, {
          onReady: () => {
            while (stream.writable && stream.takeError() === 0) {
              const count = stream.write(region, 0, region.bytes.length);
              written[index] = (written[index] ?? 0) + Math.max(0, count);
            }
          },
          onRemoved: () => stream.close(),
        });
      }
    },
    onRemoved: () => listening.close(),
  });
  const waiting = 200;
  const slow = Array.from({ length: waiting }, () => client.provider.connect(SERVER));
  world.network.clock.advance(5000);
  const held = written.reduce((sum, bytes) => sum + bytes, 0);
  expect(written.length).toBe(waiting);
  expect(Math.min(...written)).toBeGreaterThanOrEqual(LEAST_WINDOW_BYTES);
  expect(held).toBeLessThanOrEqual(limits.tunnelWindowBytes + waiting * LEAST_WINDOW_BYTES);
  const quick = client.provider.connect(SERVER);
  let readBytes = 0;
  client.loop.add(quick, {
    onReady: () => {
      while (quick.readable) readBytes += Math.max(0, quick.read(region, 0, region.bytes.length));
    },
    onRemoved: () => quick.close(),
  });
  world.until(() => readBytes > 2_000_000);
  // What those give back that go, others get.
  for (const fd of slow) fd.close();
  const before = readBytes;
  world.network.clock.advance(1000);
  expect(readBytes - before).toBeGreaterThan(4_000_000);
});
