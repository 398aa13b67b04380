import { askNode, type NodeReport, type WorkloadReport } from "../../daemon/edge/ask-node.ts";
import { edgeFolder } from "../../daemon/edge/resolve-settings.ts";
import { INSTANCE_OPTIONS } from "../../daemon/options.ts";
import type { CommandInput, CommandSpec } from "../command-spec.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "../flags.ts";
import { type Paint, paintFor } from "../text/paint.ts";
import { renderTable } from "../text/render-table.ts";

const { state } = INSTANCE_OPTIONS;

export const EDGE_STATUS: CommandSpec = {
  name: "edge status",
  summary: "say how the edge node of this machine is, and what it connects",
  description:
    "The exit code is 0 where the node is registered and all of its workloads are connected, 1 where not, 4 where none runs.",
  arguments: [],
  optionGroups: [
    { title: "Output", specs: JSON_OPTION },
    { title: "Instance", specs: { state } },
  ],
  examples: [
    { help: "what runs here", command: "edge status" },
    { help: "for a script", command: "edge status --json --state /var/lib/portolan" },
  ],
  run: tell,
};

async function tell(input: CommandInput): Promise<number> {
  const { state: folder } = resolveFlags({ state }, input);
  const { json } = resolveFlags(JSON_OPTION, input);
  const { stdout } = input.context;
  const { node, workloads } = await askNode(edgeFolder(folder));
  const lines = json
    ? [JSON.stringify({ node, workloads })]
    : renderEdgeStatus(node, workloads, paintFor(input.context));
  stdout.write(lines.map((line) => `${line}\n`).join(""));
  return node.registered && node.workloads.lost === 0 ? EXIT_OK : EXIT_FAILED;
}

/** What people want to know of a node, in lines. */
export function renderEdgeStatus(
  node: NodeReport,
  workloads: readonly WorkloadReport[],
  paint: Paint,
): readonly string[] {
  const { name, version, nodeIp, nodePort, subnetwork, subnetworkv6, addresses } = node;
  const head = `edge node ${name} (portolan ${version}), reached at ${nodeIp ?? "no address"}, tunnel port ${nodePort}`;
  if (!node.registered) return [head, "not registered: POST /register says its subnetwork"];
  const { used = 0, capacity = 0 } = addresses ?? {};
  const room = `subnetwork ${subnetwork} and ${subnetworkv6}: ${used} of ${capacity} addresses used`;
  if (workloads.length === 0) return [head, room, "no workloads"];
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
  const table = renderTable(
    columns.map((title) => ({ title })),
    rows,
    paint,
  );
  return [head, room, "", ...table];
}
