import { CoreError } from "../../core/errors.ts";
import type { Cidr } from "../../core/model/address.ts";
import { problemsError } from "../../core/model/problems.ts";
import type { EdgeNetwork } from "./edge-network.ts";
import type { KeptNode } from "./node-state.ts";
import { keyOf, type PortMapping } from "./port-mappings.ts";
import type { Workload } from "./workload.ts";
import type { WorkloadBook } from "./workload-book.ts";

/** What was programmed under other names would be left behind. @throws CoreError ERR_CONFIG_INVALID */
export function refuseOther(
  node: KeptNode,
  { bridge, serviceRanges }: { readonly bridge: string; readonly serviceRanges: readonly Cidr[] },
): void {
  const before = [node.bridge, ...node.serviceRanges].join(" ");
  const now = [bridge, ...serviceRanges.map(({ text }) => text)].join(" ");
  if (before === now) return;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `this node was set up with the bridge and the service ranges ${before}, not ${now}; give the same, or remove it first: portolan cleanup --edge`,
  );
}

/** @param name of the workload that is to have these ports. @throws CoreError ERR_ADDRESS_TAKEN */
export function refuseTakenPorts(
  ports: readonly PortMapping[],
  name: string,
  { book, network }: { readonly book: WorkloadBook; readonly network: EdgeNetwork },
): void {
  const found = book.findTaken(ports, name) ?? network.findHolder(ports);
  if (found === undefined) return;
  const value = `${keyOf(found.port)} of this node`;
  const expected = `a port other than that of ${found.holder}`;
  throw problemsError("ERR_ADDRESS_TAKEN", [
    { path: ["portMappings"], fault: "taken", value, expected },
  ]);
}

/** The name of a workload that runs is not given to another one. */
export function taken({ name, containerId }: Workload): CoreError {
  return new CoreError(
    "ERR_KEY_TAKEN",
    `${name} is deployed with containerId ${JSON.stringify(containerId)}; undeploy it first, or give another instanceNumber`,
  );
}
