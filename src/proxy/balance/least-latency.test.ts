import { expect, test } from "vitest";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { ANY_SERVER } from "./balancer.ts";
import { LeastLatency } from "./least-latency.ts";
import { Server } from "./server.ts";

function serverWith(name: string, latencyMs: number | undefined): Server {
  const server = new Server(name, "10.0.0.1", 80, true);
  server.weight = 1;
  if (latencyMs !== undefined) server.latency.observe(latencyMs, 0);
  return server;
}

function balancerOf(...servers: readonly Server[]): LeastLatency {
  const balancer = new LeastLatency(seededRandom(3));
  for (const server of servers) balancer.weightChanged(server);
  return balancer;
}

test("of two it takes the faster, until that one has the more connections", () => {
  const fast = serverWith("fast", 10);
  const slow = serverWith("slow", 35);
  const balancer = balancerOf(fast, slow);
  const next = () => balancer.next("", 0, ANY_SERVER);
  expect(next()).toBe(fast);
  fast.connections = 2;
  expect(next()).toBe(fast);
  fast.connections = 3;
  expect(next()).toBe(slow);
});

test("a server that became slow is left at once, and tried again later", () => {
  const steady = serverWith("steady", 10);
  const peaked = serverWith("peaked", 5);
  const balancer = balancerOf(steady, peaked);
  peaked.latency.observe(1000, 0);
  expect(balancer.next("", 0, ANY_SERVER)).toBe(steady);
  for (let nowMs = 0; nowMs <= 60_000; nowMs += 1000) steady.latency.observe(10, nowMs);
  expect(balancer.next("", 60_000, ANY_SERVER)).toBe(peaked);
});

test("one that was never measured is tried with one connection only", () => {
  const known = serverWith("known", 10);
  const fresh = serverWith("fresh", undefined);
  const balancer = balancerOf(known, fresh);
  expect(balancer.next("", 0, ANY_SERVER)).toBe(fresh);
  fresh.connections = 1;
  expect(balancer.next("", 0, ANY_SERVER)).toBe(known);
});

test("of many it never takes the slowest, for there is always a better one beside it", () => {
  const servers = Array.from({ length: 20 }, (_, n) => serverWith(`s${n}`, n + 1));
  const balancer = balancerOf(...servers);
  for (let turn = 0; turn < 500; turn++) {
    expect(balancer.next("", 0, ANY_SERVER)?.memberId).not.toBe("s19");
  }
});
