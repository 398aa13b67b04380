import { type Packet, streamDecode, streamEncode } from "dns-packet";
import { expect, test } from "vitest";
import {
  type SimulatedEnd,
  SimulatedProxy,
  simulatedConfig,
} from "../loop/simulated-proxy.fixture.ts";

const QUESTION = streamEncode({
  type: "query",
  id: 7,
  questions: [{ type: "A", class: "IN", name: "a.example" }],
});
/** As many as one loop keeps. */
const MAX_STREAMS = 256;

function startDns(): SimulatedProxy {
  const proxy = new SimulatedProxy();
  const hosts = new Map([["a.example", ["192.0.2.7"]]]);
  const dns = { hosts, forwardTo: [], ttlSeconds: 5 };
  proxy.apply(simulatedConfig([], { listener: { mode: "dns", dns } }));
  return proxy;
}

function ask(proxy: SimulatedProxy, client: SimulatedEnd): Packet | undefined {
  let answer: Packet | undefined;
  client.onBytes = (bytes) => {
    answer = streamDecode(bytes);
  };
  client.write(QUESTION);
  proxy.run(10);
  return answer;
}

test("a question that drips has as long as one that does not come", () => {
  const proxy = startDns();
  const [dripping, silent, asking] = [proxy.dial(), proxy.dial(), proxy.dial()];
  proxy.run(10);
  dripping.write(Uint8Array.of(0xff, 0xff));
  for (let second = 0; second < 9; second += 1) {
    proxy.run(1000);
    dripping.write("?");
    expect(ask(proxy, asking)?.answers).toHaveLength(1);
  }
  expect([dripping.ended, silent.ended]).toEqual(["", ""]);
  proxy.run(1000);
  expect([dripping.ended, silent.ended]).not.toContain("");
  expect(ask(proxy, asking)?.answers).toHaveLength(1);
  expect(proxy.errors).toEqual([]);
});

test("whoever takes all connections keeps nobody out: the longest silent one makes room", () => {
  const proxy = startDns();
  const asking = proxy.dial();
  proxy.run(10);
  const flood: SimulatedEnd[] = [];
  while (flood.length < MAX_STREAMS - 1) {
    flood.push(proxy.dial());
    proxy.run(1);
  }
  for (const client of flood) client.write("?");
  ask(proxy, asking);
  const [late, later] = [proxy.dial(), proxy.dial()];
  proxy.run(10);
  expect(ask(proxy, late)?.answers).toHaveLength(1);
  expect(ask(proxy, later)?.answers).toHaveLength(1);
  expect(ask(proxy, asking)?.answers).toHaveLength(1);
  const cut = flood.flatMap(({ ended }, index) => (ended === "" ? [] : [index]));
  expect(cut).toEqual([0, 1]);
  expect(proxy.program.openCount).toBe(MAX_STREAMS);
});
