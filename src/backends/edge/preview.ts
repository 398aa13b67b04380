import { existsSync } from "node:fs";
import { join } from "node:path";
import { createFullStateSink } from "../../core/sinks/fullstate.ts";
import type { Op } from "../../core/view/ops.ts";
import { machineFamilies } from "../../edge/environment/machine-families.ts";
import { tunnelKeyIn } from "../../edge/overlay/tunnel-key-file.ts";
import { publicTunnelKey } from "../../edge/tunnel/tunnel-keys.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import type { Preview } from "../backend.ts";
import { limitLines } from "../limit-lines.ts";
import { rulesText, TUN } from "./edge-kernel.ts";
import { EDGE_SETS } from "./options.ts";
import { type EdgePlan, planEdge } from "./plan-edge.ts";
import { type EdgeOptions, type EdgeSettings, edgeSettingsOf } from "./settings.ts";

/** What a first sync would do: the tunnel in words, and the transaction of nft. @throws CoreError */
export async function previewEdge(
  options: EdgeOptions,
  nodeName: string,
  ops: readonly Op[],
): Promise<Preview> {
  const settings = edgeSettingsOf(options);
  const publicKey = await keyThere(settings.folder);
  let script = "";
  const sink = createFullStateSink({
    waitRequest: () => ({ nodeName, sets: EDGE_SETS }),
    apply: (state) => {
      const facts = { nodeName, settings, publicKey, families: machineFamilies() };
      const plan = planEdge(state, facts);
      script = textOf(plan, settings);
    },
  });
  for (const op of ops) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
  return { script };
}

/** Nothing is made by looking. */
async function keyThere(folder: string): Promise<string | undefined> {
  if (!existsSync(join(folder, "tunnel.key"))) return undefined;
  return publicTunnelKey(await tunnelKeyIn(folder));
}

function textOf(plan: EdgePlan, settings: EdgeSettings): string {
  const { serviceRanges, mtu, port } = settings;
  const ways = [...serviceRanges, ...plan.peerNetworks].map(({ text }) => text);
  const lines = [
    `tunnel ${TUN}, MTU ${mtu}, UDP port ${port}: ${Object.values(plan.addresses).join(" ")}`,
    `by it: ${ways.join(" ")}`,
    ...plan.peers.map(({ node, endpoint, subnets, modes }) => {
      const at = endpoint === undefined ? "wherever it calls from" : formatSocketAddress(endpoint);
      return `node ${node} at ${at}, ${modes.join(" ")}: ${subnets.join(" ")}`;
    }),
    ...plan.services.map(({ key, addresses, instances }) => {
      const ips = addresses.map(({ address, policy }) => `${address} (${policy})`).join(" ");
      return `service ${key}: ${ips}, ${instances.length} instances`;
    }),
    ...limitLines(plan.limits).map((line) => `not honoured: ${line}`),
  ];
  const comments = lines.map((line) => `# ${line}\n`).join("");
  return comments + rulesText(plan, settings, machineFamilies());
}
