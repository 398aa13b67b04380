import { askNode } from "../../daemon/edge/ask-node.ts";
import { edgeFolder } from "../../daemon/edge/resolve-settings.ts";
import { INSTANCE_OPTIONS } from "../../daemon/options.ts";
import type { CommandInput, CommandSpec } from "../command-spec.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "../flags.ts";
import { paintFor } from "../text/paint.ts";
import { renderEdgeStatus } from "./render-edge-status.ts";

const { state } = INSTANCE_OPTIONS;

export const EDGE_STATUS: CommandSpec = {
  name: "edge status",
  summary:
    "say how the edge node of this machine is, what it connects, and how far other nodes are",
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
  const report = await askNode(edgeFolder(folder));
  const lines = json ? [JSON.stringify(report)] : renderEdgeStatus(report, paintFor(input.context));
  stdout.write(lines.map((line) => `${line}\n`).join(""));
  const { node } = report;
  return node.registered && node.workloads.lost === 0 ? EXIT_OK : EXIT_FAILED;
}
