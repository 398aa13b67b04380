import fc from "fast-check";
import { expect, test } from "vitest";
import { blockOf } from "../../wire/http2/plain-peer.fixture.ts";
import { CODE, PREFACE } from "../../wire/http2/protocol.ts";
import { SimulatedProxy, simulatedConfig } from "../loop/simulated-proxy.fixture.ts";
import { dialPeer, SimulatedPeer } from "./simulated-peer.fixture.ts";

const A = "10.0.1.1";
const B = "10.0.1.2";
const OK = blockOf([[":status", "200"]]);

function started(ips: readonly string[], listener = {}) {
  const proxy = new SimulatedProxy();
  const servers: SimulatedPeer[] = [];
  for (const [index, ip] of ips.entries()) {
    proxy.serve(`server-${index}`, ip, (end) => {
      const server = new SimulatedPeer("server", end);
      servers.push(server);
      server.flush();
    });
  }
  const more = { mode: "h2", idleTimeoutMs: 60_000, ...listener } as const;
  proxy.apply(simulatedConfig(ips, { listener: more }));
  return { proxy, servers };
}

/** Answers all that came and is not answered. */
function answerAll(servers: readonly SimulatedPeer[]): void {
  for (const server of servers) {
    for (const { stream } of server.peer.opened) {
      if (!stream.isClosed) stream.sendFields(OK, true);
    }
    server.flush();
  }
}

test("a request passes, and nothing is left of it", () => {
  const { proxy, servers } = started([A]);
  const client = dialPeer(proxy);
  const request = client.request();
  proxy.run(10);
  answerAll(servers);
  proxy.run(10);
  expect([request.heads, request.isDone]).toEqual([1, true]);
  expect([0, 1].map((row) => proxy.blocks.counts(row).connections)).toEqual([0, 0]);
  expect(proxy.errors).toEqual([]);
});

test("a server without an answer is waited for to the millisecond, then it is looked at first", () => {
  const { proxy, servers } = started([A], { idleTimeoutMs: 1000, connectTimeoutMs: 500 });
  const client = dialPeer(proxy);
  const first = client.request();
  proxy.run(999);
  expect(first.heads).toBe(0);
  proxy.network.partition("proxy", "server-0");
  proxy.run(10);
  expect([first.heads, first.isDone]).toEqual([1, true]);
  // It is not sent more until it shows that it lives; it does not, and a new connection is tried.
  const second = client.request();
  proxy.run(1);
  expect(servers.length).toBe(1);
  proxy.network.heal("proxy", "server-0");
  proxy.run(490);
  answerAll(servers);
  proxy.run(10);
  expect([second.heads, second.resetWith]).toEqual([1, undefined]);
});

test("an idle client is asked to leave after the idle time-out, and not before", () => {
  const { proxy } = started([A], { idleTimeoutMs: 1000 });
  const client = dialPeer(proxy);
  proxy.run(970);
  expect(client.peer.goAways).toEqual([]);
  proxy.run(20);
  expect(client.peer.goAways).toEqual([CODE.NO_ERROR, CODE.NO_ERROR]);
  proxy.run(2000);
  expect(client.end.ended).toBe("FIN");
  expect(proxy.program.openCount).toBe(0);
});

test("a connection to a server is kept for a while, and closed then", () => {
  const { proxy, servers } = started([A]);
  const client = dialPeer(proxy);
  for (let turn = 0; turn < 3; turn += 1) {
    client.request();
    proxy.run(10);
    answerAll(servers);
    proxy.run(20_000);
  }
  expect(servers.length).toBe(1);
  proxy.run(15_000);
  expect(servers[0]?.end.ended).toBe("FIN");
});

test("who says nothing, or only a part of what comes first, is closed", () => {
  const { proxy } = started([A], { idleTimeoutMs: 30_000 });
  const [silent, slow] = [proxy.dial(), proxy.dial()];
  proxy.run(10);
  slow.write(PREFACE.subarray(0, 10));
  proxy.run(11_000);
  expect([silent.ended, slow.ended]).toEqual(["FIN", "FIN"]);
  expect(proxy.program.openCount).toBe(0);
});

test("draining: no new streams, those that are open end, and then the connection", () => {
  const { proxy, servers } = started([A]);
  const client = dialPeer(proxy);
  const request = client.request();
  proxy.run(10);
  proxy.program.drain();
  proxy.run(10);
  expect(client.peer.goAways).toEqual([CODE.NO_ERROR, CODE.NO_ERROR]);
  expect([proxy.program.openCount, request.heads]).toEqual([1, 0]);
  answerAll(servers);
  proxy.run(2000);
  expect(request.isDone).toBe(true);
  expect(proxy.program.openCount).toBe(0);
});

test("a server that refuses streams is asked once more, then another one", () => {
  const { proxy, servers } = started([A, B]);
  const client = dialPeer(proxy);
  const request = client.request();
  proxy.run(10);
  servers[0]?.peer.opened[0]?.stream.reset(CODE.REFUSED_STREAM);
  servers[0]?.flush();
  proxy.run(10);
  expect(servers[0]?.peer.opened.length).toBe(2);
  servers[0]?.peer.opened[1]?.stream.reset(CODE.REFUSED_STREAM);
  servers[0]?.flush();
  proxy.run(10);
  answerAll(servers);
  proxy.run(10);
  expect([request.heads, request.resetWith, servers.length]).toEqual([1, undefined, 2]);
});

test("a request whose body has gone to a server is not repeated", () => {
  const { proxy, servers } = started([A, B]);
  const client = dialPeer(proxy);
  const request = client.request(false);
  request.send("a part");
  client.flush();
  proxy.run(10);
  expect(servers[0]?.peer.opened[0]?.body).toBe("a part");
  servers[0]?.peer.opened[0]?.stream.reset(CODE.REFUSED_STREAM);
  servers[0]?.flush();
  proxy.run(10);
  expect([request.resetWith, servers.length]).toEqual([CODE.REFUSED_STREAM, 1]);
});

test("random bytes after the preface end the connection, and nothing is left", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
      const { proxy } = started([A], { idleTimeoutMs: 1000 });
      const end = proxy.dial();
      proxy.run(10);
      end.write(Buffer.concat([PREFACE, bytes]));
      proxy.run(5000);
      expect(end.ended).not.toBe("");
      expect(proxy.program.openCount).toBe(0);
      expect(proxy.errors).toEqual([]);
    }),
    { numRuns: 50 },
  );
});

test("bytes that are cut at any place are the same request", () => {
  const client = new SimulatedPeer("client", new SimulatedProxy().dial());
  client.peer.request(false).send("hello", true);
  const bytes = client.peer.takeOutput();
  for (let at = 1; at < bytes.length; at += 1) {
    const { proxy, servers } = started([A]);
    const end = proxy.dial();
    proxy.run(10);
    end.write(bytes.subarray(0, at));
    proxy.run(10);
    end.write(bytes.subarray(at));
    proxy.run(10);
    expect(servers[0]?.peer.opened.map(({ body, isEnded }) => [body, isEnded])).toEqual([
      ["hello", true],
    ]);
  }
});
