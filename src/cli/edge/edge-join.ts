import { CoreError } from "../../core/errors.ts";
import { parseServerAddresses } from "../../core/options/listen-address.ts";
import {
  EDGE_INSTANCE_OPTIONS,
  EDGE_JOIN_OPTIONS,
  EDGE_NODE_OPTIONS,
} from "../../daemon/edge/options.ts";
import { resolveSettings } from "../../daemon/edge/resolve-settings.ts";
import { LOG_OPTIONS } from "../../daemon/options.ts";
import type { CommandInput, CommandSpec } from "../command-spec.ts";
import { resolveFlags } from "../flags.ts";
import { serveEdgeNode } from "./serve-edge-node.ts";

/** What a member is not asked for: its networks come from the manager. */
const { subnet: _, ...NODE_OPTIONS } = EDGE_NODE_OPTIONS;
const { dryRun: __, json: ___, ...INSTANCE } = EDGE_INSTANCE_OPTIONS;

export const EDGE_JOIN: CommandSpec = {
  name: "edge join",
  summary: "make this machine a node of a manager's edge, and run it",
  description:
    "Needs root on Linux. Joins with a token of `portolan manager token create`, once: certificate, keys and networks are kept in the state folder, and later starts, also of edge node, need no token. What runs here is told to the manager, which gives it service addresses; workloads reach services of all nodes through the tunnel. While no manager answers, the node goes on with what it knows. Orders come by the REST API of edge node. See docs/edge.md.",
  arguments: [
    {
      name: "MANAGER",
      help: "HOST:PORT[,HOST:PORT] where the API of the manager is, or of several that share an etcd",
    },
  ],
  optionGroups: [
    { title: "Join", specs: EDGE_JOIN_OPTIONS },
    { title: "Node", specs: NODE_OPTIONS },
    { title: "This instance", specs: INSTANCE },
    { title: "Logs", specs: LOG_OPTIONS },
  ],
  examples: [
    {
      help: "with the token that the manager printed",
      command: "edge join 192.0.2.10:12090 --token-file token --state /var/lib/portolan",
    },
    {
      help: "where several managers share an etcd; each of them tells of the others",
      command: "edge join 192.0.2.10:12090,192.0.2.11:12090 --token-file token",
    },
    { help: "again, after a restart", command: "edge join 192.0.2.10:12090" },
  ],
  run,
};

async function run(input: CommandInput): Promise<number> {
  const [text = ""] = input.args;
  const managers = parseServerAddresses(text);
  if (managers === undefined) {
    const message = `MANAGER: "${text}" is no address; expected HOST:PORT[,HOST:PORT], such as 192.0.2.10:12090`;
    throw new CoreError("ERR_USAGE", message);
  }
  const values = resolveFlags({ ...NODE_OPTIONS, ...INSTANCE }, input);
  const { tokenFile } = resolveFlags(EDGE_JOIN_OPTIONS, input);
  const settings = resolveSettings({ ...values, subnet: [], dryRun: false, json: false });
  const { assertPossible } = await import("../../daemon/edge/edge-node.ts");
  await assertPossible();
  return serveEdgeNode(settings, input, { managers, tokenFile });
}
