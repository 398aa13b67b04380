import { expect, test } from "vitest";
import { noPackets } from "../flows/packet-counters.ts";
import type { TunnelStats } from "./tunnel-messages.ts";
import { tunnelMetrics } from "./tunnel-metrics.ts";

const STATS: TunnelStats = {
  packets: { ...noPackets(), toPeers: 5, fromPeers: 4, toLocal: 3, noInstance: 2 },
  incoming: { datagrams: 9, strange: 1, notGenuine: 6, wrongAddress: 0 },
  handshakes: { refused: 7, noCommonMode: 0, completed: 8 },
  flows: { count: 10, evicted: 11 },
  waitedInVain: 12,
  sendFailed: 13,
  writeFailed: 14,
  kernelPath: { isOpen: true, sent: 15, received: 16, refused: 17, failed: 18 },
  peers: [
    { node: "b", endpoint: "", mode: "secure", roundTripMs: 1.5, bytesIn: 100, bytesOut: 200 },
    { node: "c", endpoint: "", mode: undefined, roundTripMs: undefined, bytesIn: 0, bytesOut: 0 },
  ],
};

test("everything that a tunnel counts is told once, with names that monitoring takes", () => {
  const families = tunnelMetrics(STATS);
  const lines = families.flatMap(({ name, samples }) =>
    samples.map(({ labels, value }) => [name, ...Object.values(labels), value].join(" ")),
  );
  expect(lines).toEqual(
    expect.arrayContaining([
      "edge_tunnel_packets_total to-peers 5",
      "edge_tunnel_packets_total to-workloads 3",
      "edge_tunnel_packets_total from-peers 4",
      "edge_tunnel_dropped_total no-instance 2",
      "edge_tunnel_dropped_total not-genuine 6",
      "edge_tunnel_dropped_total waited-in-vain 12",
      "edge_tunnel_datagrams_total 9",
      "edge_tunnel_handshakes_total completed 8",
      "edge_tunnel_handshakes_total refused 7",
      "edge_tunnel_peers ready 1",
      "edge_tunnel_peers not-ready 1",
      "edge_tunnel_bytes_total b in 100",
      "edge_tunnel_bytes_total b out 200",
      "edge_tunnel_round_trip_seconds b 0.0015",
      "edge_tunnel_flows 10",
      "edge_tunnel_flows_evicted_total 11",
      "edge_kernel_path_open 1",
      "edge_kernel_path_packets_total to-peers 15",
      "edge_kernel_path_packets_total from-peers 16",
      "edge_kernel_path_dropped_total not-genuine 17",
      "edge_kernel_path_dropped_total failed 18",
    ]),
  );
  expect(new Set(lines.map((line) => line.slice(0, line.lastIndexOf(" ")))).size).toBe(
    lines.length,
  );
  for (const { name, kind } of families) expect(name.endsWith("_total")).toBe(kind === "counter");
});
