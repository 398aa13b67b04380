import { expect, test } from "vitest";
import { wordsOfIp } from "../../wire/ip/address-words.ts";
import { backOf, type FlowPlan } from "../flows/flow.ts";
import { FlowTable } from "../flows/flow-table.ts";
import { LOCAL, type Target } from "../flows/packet-router.ts";
import { LiveInstance } from "../table/live-instance.ts";
import { flowKey, numberBytes } from "./entries.ts";
import { KernelFlows } from "./kernel-flows.ts";
import { FakeKernelMaps, type FakeMap } from "./kernel-maps.fixture.ts";
import { FLOW_VALUE } from "./layout.ts";

const [TCP, UDP, FIN] = [6, 17, 1];
const NS_PER_MS = 1_000_000;
const V6 = (first: string, last: string) => first + last.padStart(28, "0");
/** The machine started that much before the tunnel. */
const EARLIER_MS = 500;

interface FakePeer {
  readonly node: string;
  isGone: boolean;
  readonly wantsServiceSources: boolean;
}

function planOf(port: number, protocol = UDP, isV6 = false): FlowPlan {
  const [client, service, server] = (
    isV6 ? ["fc00::2", "fdff::1", "fc00::1:2"] : ["10.18.0.2", "10.30.0.1", "10.18.1.2"]
  ).map((ip) => wordsOfIp(ip));
  if (client === undefined || service === undefined || server === undefined) throw new Error();
  const there = (port << 16) | 80;
  const back = (8080 << 16) | port;
  return {
    protocol,
    asked: { source: client, destination: service, ports: there },
    sent: { source: client, destination: server, ports: (port << 16) | 8080 },
    answered: { source: server, destination: client, ports: back },
    returned: { source: service, destination: client, ports: (80 << 16) | port },
  };
}

/** A table with a mirror on fakes. */
class World {
  readonly maps: FakeKernelMaps = new FakeKernelMaps();
  readonly peer: FakePeer = { node: "b", isGone: false, wantsServiceSources: false };
  readonly instance = new LiveInstance("web", { number: 0, node: "b", addresses: [], weight: 1 });
  nowMs = 0;
  readonly mirror: KernelFlows<FakePeer>;
  readonly table: FlowTable<Target<FakePeer>>;

  constructor(maxFlows = 8) {
    this.mirror = new KernelFlows<FakePeer>({
      flows: this.maps.maps.flows,
      places: this.maps.maps.places,
      numberOf: () => 7,
      nowMs: () => this.nowMs,
      nowNs: () => (this.nowMs + EARLIER_MS) * NS_PER_MS,
    });
    this.table = new FlowTable<Target<FakePeer>>({ maxFlows, mirror: this.mirror });
  }

  get flows(): FakeMap {
    return this.maps.maps.flows;
  }

  /** As a program does it with each packet. */
  usedInKernel(plan: FlowPlan, atMs: number): void {
    const key = flowKey(plan.protocol, plan.answered);
    const value = this.flows.get(key);
    if (value === undefined) throw new Error("no program finds this flow");
    const ns = BigInt((atMs + EARLIER_MS) * NS_PER_MS);
    new DataView(value.buffer).setBigUint64(FLOW_VALUE.lastUsedNs, ns, true);
    this.flows.set(key, value);
  }

  /** Whether packets of it may pass there, in both directions. */
  isOpen(plan: FlowPlan): readonly (boolean | undefined)[] {
    return [plan.asked, plan.answered].map((from) => {
      const value = this.flows.get(flowKey(plan.protocol, from));
      return value && value[FLOW_VALUE.isOpen] === 1;
    });
  }
}

test("a flow is there from its first packet, opens with the answer, and closes with its end", () => {
  const world = new World();
  const { table, instance, peer } = world;
  const plan = planOf(1000, TCP);
  const isOpen = (of: FlowPlan) => world.isOpen(of);
  const flow = table.add(plan, instance, peer, 0);
  expect(isOpen(plan)).toEqual([false, false]);
  table.use(flow, 0, 0);
  expect(isOpen(plan)).toEqual([false, false]);
  table.use(backOf(flow), 0, 0);
  expect(isOpen(plan)).toEqual([true, true]);
  table.use(flow, FIN, 0);
  expect(isOpen(plan)).toEqual([false, false]);
  table.remove(flow);
  expect(isOpen(plan)).toEqual([undefined, undefined]);
});

test.each([false, true])("both directions have what packets become; IPv6: %s", (isV6) => {
  const { table, instance, peer, maps } = new World();
  const plan = planOf(0x1234, UDP, isV6);
  table.use(backOf(table.add(plan, instance, peer, 0)), 0, 0);
  const [client, service, server] = isV6
    ? [V6("fc00", "2"), V6("fdff", "1"), V6("fc00", "10002")]
    : ["0a120002", "0a1e0001", "0a120102"].map((hex) => hex.padStart(32, "0"));
  const kind = isV6 ? "11010000" : "11000000";
  // Open; place 0; never used by a program.
  const tail = `010000${"0".repeat(32)}`;
  expect(new Map([...maps.maps.flows.entries].map(([key, value]) => [key, hexOf(value)]))).toEqual(
    new Map([
      [`${client}${service}12340050${kind}`, `${client}${server}12341f9000${tail}`],
      [`${server}${client}1f901234${kind}`, `${service}${client}0050123401${tail}`],
    ]),
  );
  expect(maps.maps.places.get(numberBytes(0))).toEqual(numberBytes(7));
});

test("places of this node, of gone instances and of gone peers are not there", () => {
  const { table, instance, peer, mirror, maps } = new World();
  const other = new LiveInstance("web", { number: 1, node: "b", addresses: [], weight: 1 });
  table.add(planOf(1), instance, LOCAL, 0);
  table.add(planOf(2), instance, peer, 0);
  table.add(planOf(3), other, peer, 0);
  const places = () => [...maps.maps.places.entries.keys()];
  expect(places()).toEqual(["01000000", "02000000"]);
  other.isGone = true;
  mirror.review();
  expect(places()).toEqual(["01000000"]);
  peer.isGone = true;
  mirror.review();
  expect(places()).toEqual([]);
});

test("a number that means another place now leads there", () => {
  const { table, instance, peer, maps } = new World();
  const flow = table.add(planOf(1), instance, peer, 0);
  table.remove(flow);
  table.add(planOf(2), instance, LOCAL, 0);
  expect(maps.maps.places.entries.size).toBe(0);
});

test("a flow that programs use is kept, for as long as after a packet of the tunnel", () => {
  const world = new World();
  const { table, instance, peer } = world;
  const [used, unused] = [planOf(1), planOf(2)];
  for (const plan of [used, unused]) table.use(backOf(table.add(plan, instance, peer, 0)), 0, 0);
  world.usedInKernel(used, 200_000);
  world.nowMs = 300_000;
  table.expire(300_000, 100);
  expect([world.isOpen(used)[0], world.isOpen(unused)[0]]).toEqual([true, undefined]);
  world.nowMs = 499_000;
  table.expire(499_000, 100);
  expect(table.size).toBe(1);
  world.nowMs = 500_001;
  table.expire(500_001, 100);
  expect(table.size).toBe(0);
});

test("what programs use makes room after what nobody does", () => {
  const world = new World(2);
  const { table, instance, peer } = world;
  const [used, unused] = [planOf(1), planOf(2)];
  for (const plan of [used, unused]) table.use(backOf(table.add(plan, instance, peer, 0)), 0, 0);
  world.nowMs = 10;
  world.usedInKernel(used, 9);
  table.add(planOf(3), instance, peer, 10);
  expect([world.isOpen(used)[0], world.isOpen(unused)[0]]).toEqual([true, undefined]);
});

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
