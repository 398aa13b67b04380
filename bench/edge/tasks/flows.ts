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

const FEW = 1000;
const MANY = 100_000;
const MAX_FLOWS = 120_000;
const NEW_FLOWS = 500_000;
const PACKETS = 2_000_000;
const CLIENTS = 1000;
const PACKET_BYTES = 40;
/** Coprime to the numbers of flows: each packet is of another flow than the one before. */
const STRIDE = 7919;

console.log(JSON.stringify(measureFlows()));

function measureFlows() {
  const few = fill(FEW);
  const fewNs = packetNs(few, FEW);
  collectGarbage();
  const before = heapMegabytes();
  const many = fill(MANY);
  collectGarbage();
  const megabytes = heapMegabytes() - before;
  const manyNs = packetNs(many, MANY);
  for (let index = 0; index < NEW_FLOWS; index += 1) send(many, MANY + index);
  collectGarbage();
  const megabytesInTheEnd = heapMegabytes() - before;
  return { fewNs, manyNs, megabytes, flowsInTheEnd: many.flows.size, megabytesInTheEnd };
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
  for (let index = 0; index < count; index += 1) send(world, index);
  if (flows.size !== count) throw new Error(`${flows.size} flows instead of ${count}`);
  return world;
}

/** A packet of UDP: clients by turns, each from one port after the other. */
function send({ router, view }: World, flow: number): void {
  view.setUint32(0, 0x4500_0000 + PACKET_BYTES);
  view.setUint32(8, 0x4011_0000);
  view.setUint32(12, 0x0a12_0000 + (flow % CLIENTS));
  view.setUint32(16, 0x0a1e_0001);
  view.setUint32(20, ((1024 + Math.floor(flow / CLIENTS)) << 16) | 80);
  view.setUint32(24, (PACKET_BYTES - 20) << 16);
  router.fromLocal(view, 0, PACKET_BYTES, false, 0);
}

function packetNs(world: World, flows: number): number {
  const pass = (packets: number): void => {
    for (let index = 0; index < packets; index += 1) send(world, (index * STRIDE) % flows);
  };
  pass(PACKETS / 10);
  return (cpuMsOf(() => pass(PACKETS)) * 1e6) / PACKETS;
}
