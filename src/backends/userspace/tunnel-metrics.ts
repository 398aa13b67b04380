import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import type { TunnelStats } from "../../net/kcp/tunnel-counters.ts";
import type { LoopFigures } from "../../proxy/engine-stats.ts";

const FAMILIES: readonly {
  readonly name: string;
  readonly help: string;
  readonly field: keyof TunnelStats;
}[] = [
  { name: "tunnels", help: "KCP tunnels that stand, of either end", field: "tunnels" },
  {
    name: "tunnel_handshakes_total",
    help: "Handshakes of KCP tunnels that both ends finished",
    field: "handshakes",
  },
  {
    name: "tunnel_handshakes_refused_total",
    help: "Handshakes of KCP tunnels with another secret, or forged",
    field: "refusedHandshakes",
  },
  {
    name: "tunnels_lost_total",
    help: "KCP tunnels whose other end fell silent, or had forgotten them",
    field: "lostTunnels",
  },
  {
    name: "tunnel_datagrams_in_total",
    help: "Datagrams that came for KCP tunnels",
    field: "datagramsIn",
  },
  {
    name: "tunnel_datagrams_out_total",
    help: "Datagrams that KCP tunnels sent",
    field: "datagramsOut",
  },
  { name: "tunnel_bytes_in_total", help: "Bytes of the datagrams that came", field: "bytesIn" },
  { name: "tunnel_bytes_out_total", help: "Bytes of the datagrams sent", field: "bytesOut" },
  {
    name: "tunnel_segments_resent_total",
    help: "Segments that KCP tunnels sent again",
    field: "resentSegments",
  },
  {
    name: "tunnel_datagrams_forged_total",
    help: "Datagrams that nobody we know has sealed, or that were changed",
    field: "forgedDatagrams",
  },
  {
    name: "tunnel_datagrams_replayed_total",
    help: "Datagrams that had come before",
    field: "replayedDatagrams",
  },
  {
    name: "tunnel_datagrams_strange_total",
    help: "Datagrams that belong to no tunnel",
    field: "strangeDatagrams",
  },
];

/** What KCP tunnels did; nothing where no loop may have any. */
export function tunnelMetrics(loops: readonly LoopFigures[]): readonly MetricFamily[] {
  const counted = loops.flatMap(({ name, tunnels }) => (tunnels ? [{ name, tunnels }] : []));
  if (counted.length === 0) return [];
  return FAMILIES.map(({ name, help, field }) => ({
    name,
    help,
    kind: name.endsWith("_total") ? "counter" : "gauge",
    samples: counted.map((loop) => ({ labels: { loop: loop.name }, value: loop.tunnels[field] })),
  }));
}
