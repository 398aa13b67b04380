import { expect, test } from "vitest";
import { wordsOfIp } from "../../wire/ip/address-words.ts";
import { PROTOCOL_TCP } from "../../wire/ip/ip-numbers.ts";
import { swapPorts } from "../../wire/ip/ip-packet.ts";
import { backOf, type FlowPlan } from "../flows/flow.ts";
import { FlowTable } from "../flows/flow-table.ts";
import { LiveInstance } from "../table/live-instance.ts";
import { FlowKeeper } from "./flow-keeper.ts";

const CLIENT = wordsOfIp("10.18.0.2");
const SERVICE = wordsOfIp("10.30.0.1");
const SERVER = wordsOfIp("10.18.1.2");
const instance = new LiveInstance("default/web", {
  number: 1,
  node: "b",
  addresses: ["10.18.1.2"],
  weight: 1,
});

function planOf(port: number): FlowPlan {
  const ports = (port << 16) | 80;
  return {
    protocol: PROTOCOL_TCP,
    asked: { source: CLIENT, destination: SERVICE, ports },
    sent: { source: CLIENT, destination: SERVER, ports },
    answered: { source: SERVER, destination: CLIENT, ports: swapPorts(ports) },
    returned: { source: SERVICE, destination: CLIENT, ports: swapPorts(ports) },
  };
}

function tableWith(keeper: FlowKeeper): FlowTable<string> {
  return new FlowTable<string>({ maxFlows: 100, observer: keeper });
}

test("connections go on in another process, as they were; what ended meanwhile does not", () => {
  const first = new FlowKeeper([]);
  const flows = tableWith(first);
  const added = [40_000, 40_001, 40_002].map((port) => flows.add(planOf(port), instance, "b", 0));
  expect(first.takeNews(flows)).toBeUndefined();
  for (const flow of added) flows.use(backOf(flow), 0, 1);
  const [, , short] = added;
  if (short !== undefined) flows.remove(short);
  const news = first.takeNews(flows);
  expect(news).toMatchObject({ added: [{ id: 1, server: "10.18.1.2" }, { id: 2 }], removed: [] });

  const second = new FlowKeeper(news?.added ?? []);
  const restored = tableWith(second);
  second.resume(restored, () => undefined, 5);
  expect(restored.size).toBe(0);
  second.resume(restored, (ip) => (ip === "10.18.1.2" ? { instance, target: "b" } : undefined), 5);
  expect([...restored.flows()].map(({ plan, state, target }) => [plan, state, target])).toEqual([
    [planOf(40_000), "connection", "b"],
    [planOf(40_001), "connection", "b"],
  ]);
  // They are written down already.
  expect(second.takeNews(restored)).toBeUndefined();
  const [one] = restored.ends();
  if (one !== undefined) restored.remove(one);
  const next = restored.add(planOf(40_003), instance, "b", 6);
  restored.use(backOf(next), 0, 6);
  expect(second.takeNews(restored)).toMatchObject({ added: [{ id: 3 }], removed: [1] });
});

test("connections whose instances never come are given up", () => {
  const keeper = new FlowKeeper([]);
  const flows = tableWith(keeper);
  flows.use(backOf(flows.add(planOf(40_000), instance, "b", 0)), 0, 1);
  const next = new FlowKeeper(keeper.takeNews(flows)?.added ?? []);
  next.giveUp();
  expect(next.takeNews(flows)).toEqual({ added: [], removed: [1] });
});
