import type { EdgeNetwork } from "../../edge/environment/edge-network.ts";
import { EMPTY_STATE } from "../../edge/environment/node-state.ts";
import { readRanges } from "../../edge/rest/requests.ts";
import { createStateFile } from "./state-file.ts";

/**
 * Removes all that the node of a state folder made on this machine: links, routes, rules, and the
 * namespaces that were made for workloads. Succeeds where nothing is left.
 * @returns how many workloads it disconnected
 */
export async function removeEdge(folder: string, network: EdgeNetwork): Promise<number> {
  const keeper = createStateFile(folder);
  const { node, workloads } = (await keeper.load()) ?? EMPTY_STATE;
  if (node === undefined) return 0;
  const { bridge } = node;
  await network.removeNode({ bridge, serviceRanges: readRanges(node.serviceRanges, "--state") });
  for (const { namespace } of workloads) network.removeNamespace(namespace);
  await keeper.save(EMPTY_STATE);
  return workloads.length;
}
