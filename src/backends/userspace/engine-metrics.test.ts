import { expect, test } from "vitest";
import type { MetricSample } from "../../core/metrics/metric-family.ts";
import { KcpCounters } from "../../net/kcp/kcp-counters.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { EngineStats } from "../../proxy/engine-stats.ts";
import { engineMetrics } from "./engine-metrics.ts";

const COUNTS = { connections: 1, totalConnections: 2, bytesIn: 3, bytesOut: 4, failures: 5 };

const STATS: EngineStats = {
  loops: [
    {
      name: "loop-1",
      rounds: 1,
      events: 20,
      timers: 0,
      tasks: 0,
      errors: 6,
      fds: 0,
      looks: 8,
      lastRoundMs: 0,
      threadId: 0,
      tunnels: Object.assign(new KcpCounters(), { tunnels: 2, resentSegments: 7 }),
    },
  ],
  listeners: [{ key: "default/front", address: ipAddress("::1", 80), ...COUNTS }],
  groups: [
    {
      key: "g",
      ...COUNTS,
      servers: [
        {
          key: "default/web/a",
          host: "10.0.0.1",
          port: 8080,
          health: "up",
          reason: "",
          checks: { ok: 4, failed: 1 },
          latency: { boundsMs: [1, 500, Number.POSITIVE_INFINITY], counts: [3, 2, 1], sumMs: 2500 },
          ...COUNTS,
        },
        {
          key: "default/web/b",
          host: "10.0.0.2",
          port: 8080,
          health: "starting",
          reason: "not checked yet",
          checks: { ok: 0, failed: 0 },
          latency: { boundsMs: [], counts: [], sumMs: 0 },
          ...COUNTS,
        },
      ],
    },
  ],
};

function samplesOf(name: string): readonly MetricSample[] {
  const found = engineMetrics(STATS).find((family) => family.name === name);
  if (found === undefined) throw new Error(`there is no family ${name}`);
  return found.samples;
}

test("names of families are unique, and counters say that they are", () => {
  const families = engineMetrics(STATS);
  expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
  for (const { name, kind } of families) expect(name.endsWith("_total")).toBe(kind === "counter");
});

test("listeners, groups and servers are counted alike", () => {
  const listener = { listener: "default/front", address: "[::1]:80" };
  expect(samplesOf("listener_connections")).toEqual([{ labels: listener, value: 1 }]);
  expect(samplesOf("listener_failures_total")).toEqual([{ labels: listener, value: 5 }]);
  expect(samplesOf("group_bytes_in_total")).toEqual([{ labels: { group: "g" }, value: 3 }]);
  expect(samplesOf("server_connections_total")).toMatchObject([
    { labels: { group: "g", server: "default/web/a", address: "10.0.0.1:8080" }, value: 2 },
    { labels: { server: "default/web/b" }, value: 2 },
  ]);
  expect(samplesOf("loop_looks_total")).toEqual([{ labels: { loop: "loop-1" }, value: 8 }]);
  expect(samplesOf("loop_errors_total")).toEqual([{ labels: { loop: "loop-1" }, value: 6 }]);
});

test("tunnels are counted by loop, where there may be any", () => {
  const labels = { loop: "loop-1" };
  expect(samplesOf("tunnels")).toEqual([{ labels, value: 2 }]);
  expect(samplesOf("tunnel_segments_resent_total")).toEqual([{ labels, value: 7 }]);
  const loops = STATS.loops.map((loop) => ({ ...loop, tunnels: undefined }));
  const names = engineMetrics({ ...STATS, loops }).map(({ name }) => name);
  expect(names.filter((name) => name.startsWith("tunnel"))).toEqual([]);
});

test("every counter of tunnels is told", () => {
  const names = engineMetrics(STATS).map(({ name }) => name);
  const told = names.filter((name) => name.startsWith("tunnel"));
  expect(told).toHaveLength(Object.keys(new KcpCounters()).length);
});

test("only a server that is up is up", () => {
  expect(samplesOf("server_up").map(({ value }) => value)).toEqual([1, 0]);
});

test("checks of a server are told by how they ended", () => {
  const labels = { group: "g", server: "default/web/a", address: "10.0.0.1:8080" };
  expect(samplesOf("server_checks_total")).toMatchObject([
    { labels: { ...labels, result: "ok" }, value: 4 },
    { labels: { ...labels, result: "failed" }, value: 1 },
    { labels: { server: "default/web/b", result: "ok" }, value: 0 },
    { labels: { server: "default/web/b", result: "failed" }, value: 0 },
  ]);
});

test("buckets of latency add up, in seconds", () => {
  const ofFirst = samplesOf("server_latency_seconds").filter(
    ({ labels }) => labels["server"] === "default/web/a",
  );
  expect(ofFirst.map(({ suffix, labels, value }) => [suffix, labels["le"], value])).toEqual([
    ["_bucket", "0.001", 3],
    ["_bucket", "0.5", 5],
    ["_bucket", "+Inf", 6],
    ["_sum", undefined, 2.5],
    ["_count", undefined, 6],
  ]);
});
