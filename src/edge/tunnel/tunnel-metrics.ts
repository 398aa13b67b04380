import type { MetricFamily, MetricSample } from "../../core/metrics/metric-family.ts";
import type { PacketCounter } from "../flows/packet-counters.ts";
import type { PeerStats, TunnelStats } from "./tunnel-messages.ts";

const PREFIX = "edge_tunnel";

/** Of the counters of packets, those that were passed on; all others are of packets that were dropped. */
const PASSED: ReadonlyMap<PacketCounter, string> = new Map([
  ["toPeers", "to-peers"],
  ["toLocal", "to-workloads"],
  ["fromPeers", "from-peers"],
]);

/** What a tunnel did, for monitoring. */
export function tunnelMetrics(stats: TunnelStats): readonly MetricFamily[] {
  return [
    ...packetFamilies(stats),
    ...peerFamilies(stats),
    ...flowFamilies(stats),
    ...kernelPathFamilies(stats),
  ];
}

function packetFamilies(stats: TunnelStats): readonly MetricFamily[] {
  const packets = Object.entries(stats.packets);
  const { strange, notGenuine, wrongAddress, datagrams } = stats.incoming;
  const { refused, noCommonMode, completed } = stats.handshakes;
  const dropped = {
    ...Object.fromEntries(packets.filter(([name]) => !isPassed(name))),
    strange,
    notGenuine,
    wrongAddress,
    waitedInVain: stats.waitedInVain,
    sendFailed: stats.sendFailed,
    writeFailed: stats.writeFailed,
  };
  return [
    counter(
      "packets_total",
      "Packets that went to peers and to workloads, and that came from peers",
      [...PASSED].map(([name, direction]) => sample({ direction }, stats.packets[name])),
    ),
    counter(
      "dropped_total",
      "Packets and datagrams that were not passed on, by reason",
      Object.entries(dropped).map(([name, value]) => sample({ reason: kebab(name) }, value)),
    ),
    counter("datagrams_total", "Datagrams that came from anybody", [sample({}, datagrams)]),
    counter("handshakes_total", "Handshakes by how they ended", [
      sample({ result: "completed" }, completed),
      sample({ result: "refused" }, refused),
      sample({ result: "no-common-mode" }, noCommonMode),
    ]),
  ];
}

function peerFamilies({ peers }: TunnelStats): readonly MetricFamily[] {
  const ready = peers.filter(({ mode }) => mode !== undefined).length;
  const bytes = ({ node, bytesIn, bytesOut }: PeerStats) => [
    sample({ peer: node, direction: "in" }, bytesIn),
    sample({ peer: node, direction: "out" }, bytesOut),
  ];
  return [
    gauge("peers", "Other nodes, by whether packets can be sent to them", [
      sample({ state: "ready" }, ready),
      sample({ state: "not-ready" }, peers.length - ready),
    ]),
    counter("bytes_total", "Bytes that came from peers and went to them", peers.flatMap(bytes)),
    gauge(
      "round_trip_seconds",
      "Smoothed round-trip time to a peer",
      peers.flatMap(({ node, roundTripMs }) =>
        roundTripMs === undefined ? [] : [sample({ peer: node }, roundTripMs / 1000)],
      ),
    ),
  ];
}

function flowFamilies({ flows }: TunnelStats): readonly MetricFamily[] {
  return [
    gauge("flows", "Flows to services that are known", [sample({}, flows.count)]),
    counter("flows_evicted_total", "Flows that made room for others before their time", [
      sample({}, flows.evicted),
    ]),
  ];
}

function kernelPathFamilies({ kernelPath }: TunnelStats): readonly MetricFamily[] {
  const { isOpen, sent, received, refused, failed } = kernelPath;
  const path = "edge_kernel_path";
  return [
    gauge("open", "Whether packets pass in the kernel", [sample({}, isOpen ? 1 : 0)], path),
    counter(
      "packets_total",
      "Packets that passed in the kernel, which the tunnel counts, too",
      [sample({ direction: "to-peers" }, sent), sample({ direction: "from-peers" }, received)],
      path,
    ),
    counter(
      "dropped_total",
      "Packets and datagrams that were not passed on in the kernel, by reason",
      [sample({ reason: "not-genuine" }, refused), sample({ reason: "failed" }, failed)],
      path,
    ),
  ];
}

function isPassed(name: string): boolean {
  return [...PASSED.keys()].some((passed) => passed === name);
}

function counter(
  name: string,
  help: string,
  samples: readonly MetricSample[],
  prefix: string = PREFIX,
): MetricFamily {
  return { name: `${prefix}_${name}`, help, kind: "counter", samples };
}

function gauge(
  name: string,
  help: string,
  samples: readonly MetricSample[],
  prefix: string = PREFIX,
): MetricFamily {
  return { name: `${prefix}_${name}`, help, kind: "gauge", samples };
}

function sample(labels: MetricSample["labels"], value: number): MetricSample {
  return { labels, value };
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
