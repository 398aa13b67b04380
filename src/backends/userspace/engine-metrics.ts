import { histogramSamples } from "../../core/metrics/histogram-samples.ts";
import type { MetricFamily, MetricSample } from "../../core/metrics/metric-family.ts";
import { formatPlace } from "../../core/model/socket-path.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import type { EngineStats, GroupStats, ServerStats } from "../../proxy/engine-stats.ts";
import { tunnelMetrics } from "./tunnel-metrics.ts";

/** The part of listeners, groups and servers that is counted alike. */
type Traffic = Omit<EngineStats["listeners"][number], "key" | "address">;

interface Counted {
  readonly labels: MetricSample["labels"];
  readonly traffic: Traffic;
}

const TRAFFIC: readonly {
  readonly name: string;
  readonly kind: MetricFamily["kind"];
  readonly help: string;
  readonly field: keyof Traffic;
}[] = [
  {
    name: "connections",
    kind: "gauge",
    help: "Connections or sessions that are open",
    field: "connections",
  },
  {
    name: "connections_total",
    kind: "counter",
    help: "Connections or sessions so far",
    field: "totalConnections",
  },
  { name: "bytes_in_total", kind: "counter", help: "Bytes from clients", field: "bytesIn" },
  { name: "bytes_out_total", kind: "counter", help: "Bytes to clients", field: "bytesOut" },
  {
    name: "failures_total",
    kind: "counter",
    help: "Connections to servers that failed; of a listener, clients that were not served",
    field: "failures",
  },
];

const MS_PER_SECOND = 1000;

/** What an engine counted, for those who watch it. */
export function engineMetrics({ loops, listeners, groups }: EngineStats): readonly MetricFamily[] {
  const servers = groups.flatMap((group) =>
    group.servers.map((server) => ({ server, labels: serverLabels(group, server) })),
  );
  return [
    ...trafficFamilies(
      "listener",
      listeners.map(({ key, address, ...traffic }) => ({
        labels: { listener: key, address: formatSocketAddress(address) },
        traffic,
      })),
    ),
    ...trafficFamilies(
      "group",
      groups.map((group) => ({ labels: { group: group.key }, traffic: group })),
    ),
    ...trafficFamilies(
      "server",
      servers.map(({ server, labels }) => ({ labels, traffic: server })),
    ),
    {
      name: "server_up",
      help: "1 while a server takes connections",
      kind: "gauge",
      samples: servers.map(({ server, labels }) => ({
        labels,
        value: server.health === "up" ? 1 : 0,
      })),
    },
    {
      name: "server_checks_total",
      help: "Health checks of a server, by how they ended",
      kind: "counter",
      samples: servers.flatMap(({ server: { checks }, labels }) => [
        { labels: { ...labels, result: "ok" }, value: checks.ok },
        { labels: { ...labels, result: "failed" }, value: checks.failed },
      ]),
    },
    {
      name: "server_latency_seconds",
      help: "Time to connect to a server, or with HTTP until its answer began",
      kind: "histogram",
      samples: servers.flatMap(({ server, labels }) => histogram(server, labels)),
    },
    {
      name: "loop_events_total",
      help: "Readiness events that an event loop handled",
      kind: "counter",
      samples: loops.map(({ name, events }) => ({ labels: { loop: name }, value: events })),
    },
    {
      name: "loop_looks_total",
      help: "Times that an event loop stayed awake for the next event",
      kind: "counter",
      samples: loops.map(({ name, looks }) => ({ labels: { loop: name }, value: looks })),
    },
    {
      name: "loop_errors_total",
      help: "Callbacks of an event loop that threw",
      kind: "counter",
      samples: loops.map(({ name, errors }) => ({ labels: { loop: name }, value: errors })),
    },
    ...tunnelMetrics(loops),
  ];
}

function trafficFamilies(what: string, counted: readonly Counted[]): readonly MetricFamily[] {
  return TRAFFIC.map(({ name, kind, help, field }) => ({
    name: `${what}_${name}`,
    help,
    kind,
    samples: counted.map(({ labels, traffic }) => ({ labels, value: traffic[field] })),
  }));
}

function serverLabels(group: GroupStats, { key, host, port }: ServerStats): MetricSample["labels"] {
  return { group: group.key, server: key, address: formatPlace(host, port) };
}

function histogram(
  { latency }: ServerStats,
  labels: MetricSample["labels"],
): readonly MetricSample[] {
  const { boundsMs, counts, sumMs } = latency;
  const bounds = boundsMs.filter(Number.isFinite).map((boundMs) => boundMs / MS_PER_SECOND);
  return histogramSamples({ bounds, counts, sum: sumMs / MS_PER_SECOND }, labels);
}
