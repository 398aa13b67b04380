import type {
  EdgeReport,
  FlowReport,
  KernelPathReport,
  PeerReport,
  WorkloadReport,
} from "../../daemon/edge/ask-node.ts";
import type { Paint } from "../text/paint.ts";
import { formatBytes, formatMs } from "../text/quantities.ts";
import { renderTable } from "../text/render-table.ts";
import { roundTripMatrix } from "./round-trip-matrix.ts";

/** More flows are counted, not listed. */
const MAX_FLOWS = 20;

/** What people want to know of a node, in lines. */
export function renderEdgeStatus(report: EdgeReport, paint: Paint): readonly string[] {
  const { node, workloads, nodes, kernelPath, roundTrips, flows } = report;
  const { name, version, nodeIp, nodePort, subnetwork, subnetworkv6, addresses } = node;
  const head = `edge node ${name} (portolan ${version}), reached at ${nodeIp ?? "no address"}, tunnel port ${nodePort}`;
  if (!node.registered) return [head, "not registered: POST /register says its subnetwork"];
  const { used = 0, capacity = 0 } = addresses ?? {};
  return [
    head,
    `subnetwork ${subnetwork} and ${subnetworkv6}: ${used} of ${capacity} addresses used`,
    ...(kernelPath === undefined ? [] : [kernelPathLine(kernelPath)]),
    ...section(workloads, "no workloads", (some) => workloadTable(some, paint)),
    ...section(nodes, "no other nodes", (some) => nodeTable(some, paint)),
    ...(roundTrips.length === 0 ? [] : ["", ...roundTripMatrix(roundTrips, paint)]),
    ...section(flows, "no flows", (some) => flowTable(some, paint)),
  ];
}

function kernelPathLine({ isOpen, reason }: KernelPathReport): string {
  return isOpen
    ? "short packets pass in the kernel"
    : `no packets pass in the kernel: ${reason ?? "it was not said why"}`;
}

function section<T>(
  rows: readonly T[],
  none: string,
  render: (rows: readonly T[]) => readonly string[],
): readonly string[] {
  return rows.length === 0 ? [none] : ["", ...render(rows)];
}

function workloadTable(workloads: readonly WorkloadReport[], paint: Paint): readonly string[] {
  const columns = ["WORKLOAD", "HEALTH", "ADDRESS", "ADDRESS V6", "CONTAINER", "PORTS"];
  const rows = workloads.map((workload) => [
    workload.serviceName,
    { text: workload.health, colour: workload.health === "up" ? "green" : "red" } as const,
    workload.nsAddress,
    workload.nsAddressv6,
    workload.containerId,
    workload.portMappings
      .map(({ hostPort, port, protocol }) => `${hostPort}:${port}/${protocol}`)
      .join(" "),
  ]);
  return renderTable(titled(columns), rows, paint);
}

function nodeTable(nodes: readonly PeerReport[], paint: Paint): readonly string[] {
  const rows = nodes.map(({ name, endpoint, mode, roundTripMs, bytesIn, bytesOut }) => [
    name,
    endpoint === "" ? "not known" : endpoint,
    mode === null ? ({ text: "no session", colour: "red" } as const) : mode,
    roundTripMs === null ? "-" : formatMs(roundTripMs),
    formatBytes(bytesIn),
    formatBytes(bytesOut),
  ]);
  return renderTable(titled(["NODE", "AT", "MODE", "ROUND TRIP", "IN", "OUT"]), rows, paint);
}

function flowTable(flows: readonly FlowReport[], paint: Paint): readonly string[] {
  const rows = flows
    .slice(0, MAX_FLOWS)
    .map(({ protocol, source, destination, instance, node, state }) => [
      protocol,
      source,
      destination,
      instance,
      node,
      state,
    ]);
  const table = renderTable(
    titled(["FLOW", "FROM", "TO", "INSTANCE", "NODE", "STATE"]),
    rows,
    paint,
  );
  const rest = flows.length - rows.length;
  return rest > 0 ? [...table, `and ${rest} more`] : table;
}

function titled(titles: readonly string[]): readonly { readonly title: string }[] {
  return titles.map((title) => ({ title }));
}
