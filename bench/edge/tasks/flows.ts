/** Prints how much memory flows take, and what a packet of one costs among few and among many; no packet leaves. */
import { FlowTable } from "../../../src/edge/flows/flow-table.ts";
import {
  PacketRouter,
  type RoutePeer,
  type Target,
} from "../../../src/edge/flows/packet-router.ts";
import { PrefixMap } from "../../../src/edge/flows/prefix-map.ts";
import { ServiceTable } from "../../../src/edge/table/service-table.ts";
import { collectGarbage, cpuMsOf, heapMegabytes } from "../../support/measure.ts";
import { createRandom } from "../../support/random.ts";

const FEW = 1000;
const MANY = 100_000;
const MAX_FLOWS = 120_000;
const NEW_FLOWS = 500_000;
const PACKETS = 2_000_000;
const CLIENTS = 1000;
const PACKET_BYTES = 40;
/** Of 100,000 packets a second: each flow has moved on in its list when the next one of it comes. */
const MS_A_PACKET = 0.01;
/** A flow is two records of one cache line each. */
const LINES_A_FLOW = 2;
const WORDS_A_LINE = 16;

console.log(JSON.stringify(measureFlows()));

function measureFlows() {
  collectGarbage();
  const before = heapMegabytes();
  const many = fill(MANY);
  collectGarbage();
  const megabytes = heapMegabytes() - before;
  const manyNs = packetNs(many, shuffled(MANY), 0);
  const inOrderNs = packetNs(many, inOrder(MANY), 0);
  const refreshedNs = packetNs(many, shuffled(MANY), MS_A_PACKET);
  for (let index = 0; index < NEW_FLOWS; index += 1) send(many, MANY + index, 1e9);
  collectGarbage();
  const megabytesInTheEnd = heapMegabytes() - before;
  const fewNs = packetNs(fill(FEW), shuffled(FEW), 0);
  const [lineFewNs, lineManyNs] = [lineNs(FEW), lineNs(MANY)];
  const flowsInTheEnd = many.flows.size;
  return {
    fewNs,
    manyNs,
    inOrderNs,
    refreshedNs,
    lineFewNs,
    lineManyNs,
    megabytes,
    flowsInTheEnd,
    megabytesInTheEnd,
  };
}

function inOrder(count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, index) => index);
}

/** The same numbers in an order that no processor foresees. */
function shuffled(count: number): Uint32Array {
  const order = inOrder(count);
  const random = createRandom(7);
  for (let index = count - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [order[index], order[other]] = [order[other] ?? 0, order[index] ?? 0];
  }
  return order;
}

/** For comparison: what it costs to read and write one line of as much memory, where the next one follows from it. */
function lineNs(flows: number): number {
  const order = shuffled(LINES_A_FLOW * flows);
  const memory = new Int32Array(order.length * WORDS_A_LINE);
  order.forEach((line, index) => {
    memory[line * WORDS_A_LINE] = order[(index + 1) % order.length] ?? 0;
  });
  const pass = (count: number): void => {
    let line = 0;
    for (let index = 0; index < count; index += 1) {
      const at = line * WORDS_A_LINE;
      memory[at + 1] = index;
      line = memory[at] ?? 0;
    }
  };
  pass(PACKETS / 10);
  return (cpuMsOf(() => pass(PACKETS)) * 1e6) / PACKETS;
}

interface World {
  readonly router: PacketRouter<RoutePeer>;
  readonly flows: FlowTable<Target<RoutePeer>>;
  readonly view: DataView;
}

function fill(count: number): World {
  const peer: RoutePeer = { node: "b", isGone: false, wantsServiceSources: false };
  const routes = new PrefixMap<Target<RoutePeer>>();
  routes.add("10.18.0.0/16", "local");
  routes.add("10.19.0.0/16", peer);
  const table = new ServiceTable();
  table.set({
    key: "bench/web",
    names: [],
    addresses: [{ address: "10.30.0.1", policy: "round-robin", instance: -1 }],
    instances: [{ number: 0, node: "b", addresses: ["10.19.0.2"], weight: 1 }],
  });
  const flows = new FlowTable<Target<RoutePeer>>({ maxFlows: MAX_FLOWS });
  const router = new PacketRouter<RoutePeer>({
    table,
    flows,
    routes,
    serviceRanges: new PrefixMap<true>(),
    observed: { roundTripMs: () => undefined },
    hairpin: { v4: undefined, v6: undefined },
    peerOf: () => peer,
  });
  const world = { router, flows, view: new DataView(new ArrayBuffer(PACKET_BYTES)) };
  for (let index = 0; index < count; index += 1) send(world, index, 0);
  if (flows.size !== count) throw new Error(`${flows.size} flows instead of ${count}`);
  return world;
}

/** A packet of UDP: clients by turns, each from one port after the other. */
function send({ router, view }: World, flow: number, nowMs: number): void {
  view.setUint32(0, 0x4500_0000 + PACKET_BYTES);
  view.setUint32(8, 0x4011_0000);
  view.setUint32(12, 0x0a12_0000 + (flow % CLIENTS));
  view.setUint32(16, 0x0a1e_0001);
  view.setUint32(20, ((1024 + Math.floor(flow / CLIENTS)) << 16) | 80);
  view.setUint32(24, (PACKET_BYTES - 20) << 16);
  router.fromLocal(view, 0, PACKET_BYTES, false, nowMs);
}

function packetNs(world: World, order: Uint32Array, msAPacket: number): number {
  const pass = (packets: number, startMs: number): void => {
    for (let index = 0; index < packets; index += 1) {
      send(world, order[index % order.length] ?? 0, startMs + index * msAPacket);
    }
  };
  const warmUp = PACKETS / 10;
  pass(warmUp, 0);
  return (cpuMsOf(() => pass(PACKETS, warmUp * msAPacket)) * 1e6) / PACKETS;
}
