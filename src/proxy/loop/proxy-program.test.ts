import { expect, test } from "vitest";
import type { EngineReport } from "./engine-messages.ts";
import {
  type SimulatedEnd,
  SimulatedProxy,
  simulatedConfig,
  UNCHECKED,
} from "./simulated-proxy.fixture.ts";

const A = "10.0.1.1";
const B = "10.0.1.2";
/** Of the first server of the first group. */
const SERVER_ROW = 0;

function started(): { proxy: SimulatedProxy; taken: SimulatedEnd[] } {
  const proxy = new SimulatedProxy();
  const taken: SimulatedEnd[] = [];
  proxy.serve("a", A, (end) => taken.push(end));
  proxy.serve("b", B, (end) => taken.push(end));
  return { proxy, taken };
}

const edgesOf = (reports: readonly EngineReport[]) =>
  reports.flatMap((report) => (report.kind === "health" ? [report.edge] : []));

test("bytes and ends pass both ways, each by itself", () => {
  const { proxy, taken } = started();
  proxy.apply(simulatedConfig([A]));
  const client = proxy.dial();
  proxy.run(10);
  client.write("hello");
  client.fd.shutdownWrite();
  proxy.run(10);
  expect([taken[0]?.text, taken[0]?.ended, client.ended]).toEqual(["hello", "FIN", ""]);
  taken[0]?.write("bye");
  taken[0]?.fd.close();
  proxy.run(10);
  expect([client.text, client.ended]).toEqual(["bye", "FIN"]);
  expect(proxy.program.openCount).toBe(0);
  expect(proxy.errors).toEqual([]);
});

test("a session lives as long as something moves, and then the idle time-out to the millisecond", () => {
  const { proxy, taken } = started();
  proxy.apply(simulatedConfig([A], { listener: { idleTimeoutMs: 1000 } }));
  const client = proxy.dial();
  proxy.run(900);
  client.write("x");
  proxy.run(900);
  taken[0]?.write("y");
  proxy.run(999);
  expect(client.ended).toBe("");
  proxy.run(1);
  expect([client.text, client.ended, taken[0]?.ended]).toEqual(["y", "ECONNRESET", "ECONNRESET"]);
  expect(proxy.program.openCount).toBe(0);
});

test("a server that does not answer costs the connect time-out, then the next one is taken", () => {
  const { proxy, taken } = started();
  proxy.network.partition("proxy", "a");
  proxy.apply(simulatedConfig([A, B], { listener: { connectTimeoutMs: 2000 } }));
  const clients = [proxy.dial(), proxy.dial()];
  proxy.run(1999);
  expect(taken.length).toBe(1);
  proxy.run(10);
  expect(taken.length).toBe(2);
  for (const client of clients) client.write("x");
  proxy.run(10);
  expect(taken.map(({ text }) => text)).toEqual(["x", "x"]);
});

test("where all servers refuse, the client is reset and nothing stays", () => {
  const { proxy } = started();
  proxy.apply(simulatedConfig(["10.9.9.9"]));
  const client = proxy.dial();
  proxy.run(10_000);
  expect(client.ended).toBe("ECONNRESET");
  expect(proxy.program.openCount).toBe(0);
  expect(proxy.blocks.counts(2).connections).toBe(0);
});

test("a client that does not read stops the server, and is given everything later", () => {
  const { proxy, taken } = started();
  proxy.apply(simulatedConfig([A]));
  proxy.dial(false);
  proxy.run(10);
  const chunk = Buffer.alloc(65_536, 1);
  let sent = 0;
  for (let turn = 0; turn < 1000; turn += 1) {
    sent += Math.max(0, taken[0]?.write(chunk) ?? 0);
    proxy.run(1);
  }
  const stopped = sent;
  proxy.run(1000);
  expect(taken[0]?.write(chunk)).toBeLessThan(0);
  expect(stopped).toBeLessThan(1000 * chunk.length);
});

test("checks: up after so many successes, down after so many failures, each told once", () => {
  const { proxy, taken } = started();
  proxy.apply(simulatedConfig([A], { healthCheck: { ...UNCHECKED, protocol: "tcp" } }));
  proxy.run(50);
  expect(edgesOf(proxy.reports)).toEqual([]);
  proxy.run(100);
  expect(edgesOf(proxy.reports)).toEqual(["up"]);
  expect(taken.length).toBe(2);
  proxy.network.partition("proxy", "a");
  proxy.run(3 * 6000 - 100);
  expect(edgesOf(proxy.reports)).toEqual(["up"]);
  proxy.run(200);
  expect(edgesOf(proxy.reports)).toEqual(["up", "down"]);
  proxy.network.heal("proxy", "a");
  proxy.run(15_000);
  expect(edgesOf(proxy.reports)).toEqual(["up", "down", "up"]);
});

test("checks are counted for their server, those that failed apart", () => {
  const { proxy } = started();
  proxy.apply(simulatedConfig([A], { healthCheck: { ...UNCHECKED, protocol: "tcp" } }));
  proxy.run(150);
  expect(proxy.blocks.checks(SERVER_ROW)).toEqual({ ok: 2, failed: 0 });
  proxy.network.partition("proxy", "a");
  proxy.run(6100);
  expect(proxy.blocks.checks(SERVER_ROW)).toEqual({ ok: 2, failed: 1 });
  expect(proxy.blocks.counts(SERVER_ROW).failures).toBe(0);
});

test("connections of clients that fail count as failed checks", () => {
  const { proxy } = started();
  const healthCheck = { ...UNCHECKED, protocol: "tcp", intervalMs: 1_000_000, down: 2 } as const;
  proxy.apply(simulatedConfig([A], { healthCheck, listener: { connectTimeoutMs: 100 } }));
  proxy.run(1000);
  proxy.network.partition("proxy", "a");
  proxy.dial();
  proxy.run(200);
  expect(edgesOf(proxy.reports)).toEqual(["up"]);
  proxy.dial();
  proxy.run(200);
  expect(edgesOf(proxy.reports)).toEqual(["up", "down"]);
});

test("a server that comes later begins with a tenth of its share, where a slow start is wanted", () => {
  const { proxy, taken } = started();
  const slow = (ips: readonly string[]) => {
    const config = simulatedConfig(ips);
    return {
      ...config,
      groups: config.groups.map((group) => ({ ...group, slowStartMs: 60_000 })),
    };
  };
  proxy.apply(slow([A]));
  proxy.run(120_000);
  proxy.apply(slow([A, B]));
  const call = (times: number): Record<string, number> => {
    taken.length = 0;
    for (let turn = 0; turn < times; turn += 1) proxy.dial();
    proxy.run(10);
    const counts: Record<string, number> = {};
    for (const { fd } of taken) {
      const { ip } = { ip: "", ...fd.localAddress() };
      counts[ip] = (counts[ip] ?? 0) + 1;
    }
    return counts;
  };
  expect(call(110)).toEqual({ [A]: 100, [B]: 10 });
  proxy.run(60_000);
  expect(call(110)[B]).toBeGreaterThan(50);
});

test("draining waits for what is open", () => {
  const { proxy, taken } = started();
  proxy.apply(simulatedConfig([A]));
  const client = proxy.dial();
  proxy.run(10);
  proxy.program.drain();
  proxy.run(10);
  expect([proxy.program.openCount, client.ended]).toEqual([1, ""]);
  client.fd.shutdownWrite();
  taken[0]?.fd.shutdownWrite();
  proxy.run(10);
  expect(proxy.program.openCount).toBe(0);
});
