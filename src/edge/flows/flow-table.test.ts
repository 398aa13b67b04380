import fc from "fast-check";
import { expect, test } from "vitest";
import { wordsOfIp } from "../../wire/ip/address-words.ts";
import { IpPacket } from "../../wire/ip/ip-packet.ts";
import { packetOf, viewOf } from "../../wire/ip/packets.fixture.ts";
import { LiveInstance } from "../table/live-instance.ts";
import { backOf, type FlowPlan, isBack, NO_FLOW } from "./flow.ts";
import { FlowTable } from "./flow-table.ts";

const INSTANCE = new LiveInstance("shop/web", {
  number: 0,
  node: "b",
  addresses: ["10.18.1.2"],
  weight: 1,
});
const [CLIENT, SERVICE, SERVER] = ["10.18.0.2", "10.30.0.1", "10.18.1.2"] as const;
const UDP = 17;
const FIN = 0x11;
const ACK = 0x10;

function planOf(port: number, protocol = UDP): FlowPlan {
  const [client, service, server] = [wordsOfIp(CLIENT), wordsOfIp(SERVICE), wordsOfIp(SERVER)];
  const there = (port << 16) | 80;
  const back = (80 << 16) | port;
  return {
    protocol,
    asked: { source: client, destination: service, ports: there },
    sent: { source: client, destination: server, ports: there },
    answered: { source: server, destination: client, ports: back },
    returned: { source: service, destination: client, ports: back },
  };
}

function packet(source: string, destination: string, sourcePort: number, port: number): IpPacket {
  const bytes = packetOf({
    source,
    destination,
    protocol: "udp",
    sourcePort,
    destinationPort: port,
  });
  const parsed = new IpPacket();
  parsed.parse(viewOf(bytes), 0, bytes.length);
  return parsed;
}

test("holds what a map would, in both directions", () => {
  const commands = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 40 })), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(commands, (steps) => {
      const table = new FlowTable<string>({ maxFlows: 1000 });
      const model = new Set<number>();
      for (const [isAdded, port] of steps) {
        const flow = table.find(packet(CLIENT, SERVICE, port, 80));
        expect(flow !== NO_FLOW).toBe(model.has(port));
        if (isAdded && flow === NO_FLOW) {
          table.add(planOf(port), INSTANCE, "b", 0);
          model.add(port);
        } else if (!isAdded && flow !== NO_FLOW) {
          table.remove(flow);
          model.delete(port);
        }
        expect(table.size).toBe(model.size);
        const back = table.find(packet(SERVER, CLIENT, 80, port));
        expect(back !== NO_FLOW && isBack(back)).toBe(model.has(port));
      }
    }),
  );
});

test("more than 65,535 flows, each found by all that it is", () => {
  const table = new FlowTable<string>({ maxFlows: 200_000 });
  const base = planOf(0);
  for (let index = 0; index < 100_000; index += 1) {
    const source = { ...base.asked.source, w3: base.asked.source.w3 + (index >>> 12) };
    const ports = ((index & 0xfff) << 16) | 80;
    const ends = { source, destination: base.asked.destination, ports };
    const answered = { source: base.answered.source, destination: source, ports: ports ^ 1 };
    table.add({ ...base, asked: ends, sent: ends, answered, returned: answered }, INSTANCE, "b", 0);
  }
  expect(table.size).toBe(100_000);
  const found = table.find(packet("10.18.0.12", SERVICE, 77, 80));
  expect(table.flowOf(found)).toMatchObject({
    target: "b",
    plan: { asked: { ports: (77 << 16) | 80 } },
  });
  expect(table.find(packet("10.18.0.12", SERVICE, 77, 81))).toBe(NO_FLOW);
  expect(table.find(packet("10.18.0.200", SERVICE, 77, 80))).toBe(NO_FLOW);
});

test("where it is full, what was never answered makes room before what was", () => {
  const table = new FlowTable<string>({ maxFlows: 3 });
  const flows = [1, 2, 3].map((port) => table.add(planOf(port), INSTANCE, "b", port));
  for (const flow of flows.slice(0, 2)) table.use(backOf(flow), 0, 10);
  for (const port of [4, 5]) table.add(planOf(port), INSTANCE, "b", 20);
  const kept = [1, 2, 3, 4, 5].map((port) => table.find(packet(CLIENT, SERVICE, port, 80)));
  expect(kept.map((end) => end !== NO_FLOW)).toEqual([true, true, false, false, true]);
  expect([table.size, table.evicted]).toEqual([3, 2]);
});

test("each state is forgotten after its own time without packets", () => {
  const table = new FlowTable<string>({
    maxFlows: 100,
    timeoutsMs: { asked: 10, closing: 20, echo: 30, datagrams: 40, connection: 1000 },
  });
  const tcp = table.add(planOf(1, 6), INSTANCE, "b", 0);
  const closing = table.add(planOf(2, 6), INSTANCE, "b", 0);
  const udp = table.add(planOf(3), INSTANCE, "b", 0);
  table.add(planOf(4), INSTANCE, "b", 0);
  for (const flow of [tcp, closing]) table.use(backOf(flow), ACK, 0);
  table.use(closing, FIN, 0);
  table.use(backOf(udp), 0, 0);
  const left = (nowMs: number): string[] => {
    table.expire(nowMs, 100);
    return [...table.flows()].map(({ state }) => state);
  };
  expect(left(9)).toEqual(["asked", "closing", "datagrams", "connection"]);
  expect(left(10)).toEqual(["closing", "datagrams", "connection"]);
  expect(left(20)).toEqual(["datagrams", "connection"]);
  table.use(udp, 0, 30);
  expect(left(60)).toEqual(["datagrams", "connection"]);
  expect(left(70)).toEqual(["connection"]);
  expect(left(1000)).toEqual([]);
});

test("forgetting is done in parts", () => {
  const table = new FlowTable<string>({ maxFlows: 100 });
  for (const port of [1, 2, 3]) table.add(planOf(port), INSTANCE, "b", 0);
  expect([table.expire(1e9, 2), table.expire(1e9, 2), table.size]).toEqual([2, 1, 0]);
});

test("a connection that one end has closed may be silent for almost four minutes", () => {
  const table = new FlowTable<string>({ maxFlows: 100 });
  const flow = table.add(planOf(1, 6), INSTANCE, "b", 0);
  table.use(backOf(flow), ACK, 0);
  table.use(flow, FIN, 0);
  expect([table.expire(239_999, 10), table.expire(240_000, 10)]).toEqual([0, 1]);
});

test("flows of IPv6 are told apart by every word of both ends, and are known as they were added", () => {
  const table = new FlowTable<string>({ maxFlows: 20 });
  const ip = ["fc00:1:2:3:4:5:6:7", "fdff:1:2:3:4:5:6:7", "fc00:8:2:3:4:5:6:7"] as const;
  const [source, service, server] = [wordsOfIp(ip[0]), wordsOfIp(ip[1]), wordsOfIp(ip[2])];
  const [there, back] = [(5 << 16) | 80, (80 << 16) | 5];
  const plan: FlowPlan = {
    protocol: UDP,
    asked: { source, destination: service, ports: there },
    sent: { source, destination: server, ports: there },
    answered: { source: server, destination: source, ports: back },
    returned: { source: service, destination: source, ports: back },
  };
  const end = table.add(plan, INSTANCE, "b", 0);
  expect(table.find(packet(ip[0], ip[1], 5, 80))).toBe(end);
  expect(table.find(packet(ip[2], ip[0], 80, 5))).toBe(backOf(end));
  expect(table.flowOf(backOf(end))).toEqual({
    plan,
    instance: INSTANCE,
    target: "b",
    state: "asked",
  });
  for (const place of [0, 2, 4, 6]) {
    const other = (of: string): string => of.split(":").with(place, "fc99").join(":");
    expect(table.find(packet(other(ip[0]), ip[1], 5, 80))).toBe(NO_FLOW);
    expect(table.find(packet(ip[0], other(ip[1]), 5, 80))).toBe(NO_FLOW);
  }
});

test("what was removed leaves room for others, again and again, and nothing of itself", () => {
  const table = new FlowTable<string>({ maxFlows: 3 });
  for (let port = 1; port <= 3000; port += 1) {
    const end = table.add(planOf(port), INSTANCE, port % 2 === 0 ? "b" : "c", 0);
    expect(end).toBeLessThan(6);
    expect(table.placeOf(end).target).toBe(port % 2 === 0 ? "b" : "c");
    if (port % 5 === 0) table.remove(backOf(end));
  }
  const left = [...table.flows()].map(({ plan }) => plan.asked.ports >>> 16);
  expect(left).toEqual([2998, 2999]);
  expect(table.find(packet(CLIENT, SERVICE, 3000, 80))).toBe(NO_FLOW);
});
