import { expect, test } from "vitest";
import type { VirtualServerState } from "../../wire/netlink/ipvs/virtual-server.ts";
import type { Entrance, ServiceWithEndpoints } from "./plan/service-info.ts";
import { TrafficCounts } from "./traffic-counts.ts";

const BALANCING = { scheduler: "wrr", flags: 0, persistenceSeconds: 0 } as const;

/** A service with one address, and with a mark for insiders. */
function infosOf(key: string, ip: string, insideMark?: number): readonly ServiceWithEndpoints[] {
  const entrance: Entrance = {
    kind: "cluster-ip",
    protocol: "TCP",
    ip,
    port: 80,
    isNodes: false,
    list: "cluster",
    outcome: "served",
    insideMark,
    access: undefined,
  };
  const service = {
    id: key,
    service: key,
    type: "ClusterIP",
    family: "v4",
    balancing: BALANCING,
    entrances: [entrance],
    healthCheckPort: 0,
  } as const;
  return [{ service, endpoints: new Map() }];
}

function state(place: VirtualServerState["place"], connections: number): VirtualServerState {
  const statistics = {
    connections,
    packetsIn: connections * 4,
    packetsOut: connections * 3,
    bytesIn: connections * 400,
    bytesOut: connections * 300,
  };
  return { family: "v4", place, ...BALANCING, isByAddress: true, statistics };
}

const at = (ip: string) => ({ protocol: "TCP", ip, port: 80 }) as const;

function connections(counts: TrafficCounts): Readonly<Record<string, number>> {
  const family = counts.families().find(({ name }) => name === "ipvs_service_connections_total");
  return Object.fromEntries(
    (family?.samples ?? []).map(({ labels, value }) => [labels["service"] ?? "", value]),
  );
}

test("what the kernel counted is added up by service, and others' servers are left out", () => {
  const counts = new TrafficCounts((mark) => [mark, mark + 1]);
  counts.replace("default/web", infosOf("default/web", "10.96.0.1", 64));
  counts.observe([
    state(at("10.96.0.1"), 5),
    state({ mark: 64 }, 2),
    state({ mark: 65 }, 1),
    state(at("198.51.100.1"), 100),
  ]);
  expect(connections(counts)).toEqual({ "default/web": 8 });
  expect(counts.families().map(({ name, samples }) => [name, samples[0]?.value])).toEqual([
    ["ipvs_service_connections_total", 8],
    ["ipvs_service_packets_in_total", 32],
    ["ipvs_service_packets_out_total", 24],
    ["ipvs_service_bytes_in_total", 3200],
    ["ipvs_service_bytes_out_total", 2400],
  ]);
});

test("counters never go back, and those of a service that is gone are gone", () => {
  const counts = new TrafficCounts(() => []);
  counts.replace("default/web", infosOf("default/web", "10.96.0.1"));
  for (const count of [5, 7]) counts.observe([state(at("10.96.0.1"), count)]);
  expect(connections(counts)).toEqual({ "default/web": 7 });
  // Somebody removed it, and it was made anew.
  counts.observe([state(at("10.96.0.1"), 2)]);
  expect(connections(counts)).toEqual({ "default/web": 9 });
  counts.observe([]);
  counts.observe([state(at("10.96.0.1"), 4)]);
  expect(connections(counts)).toEqual({ "default/web": 13 });
  counts.replace("default/web", []);
  expect(connections(counts)).toEqual({});
});

test("beyond a number of services, what is counted is of the others", () => {
  const counts = new TrafficCounts(() => [], 2);
  // The first one has no traffic.
  const states = [0, 1, 2, 3, 4].map((host) => state(at(`10.96.0.${host}`), host));
  for (const host of [0, 1, 2, 3, 4])
    counts.replace(`s${host}`, infosOf(`s${host}`, `10.96.0.${host}`));
  counts.observe(states);
  counts.observe(states);
  expect(connections(counts)).toEqual({ s1: 1, s2: 2, others: 7 });
});
