import type { Cidr } from "../../core/model/address.ts";
import { FAMILIES } from "../../core/model/address.ts";
import { invalid, problemsError } from "../../core/model/problems.ts";
import { type NodeSubnets, overlaps } from "../addresses/subnet.ts";
import type { EdgeNetwork } from "./edge-network.ts";

/** Less is no network with a router and a workload; more than a node is ever given. */
const PREFIXES = { v4: [8, 30], v6: [32, 126] } as const;
const FIELDS = { v4: "subnetwork", v6: "subnetworkv6" } as const;

/** @throws CoreError ERR_USAGE with the field, where workloads could not have these networks */
export async function checkSubnets(
  subnets: NodeSubnets,
  node: { readonly bridge: string; readonly serviceRanges: readonly Cidr[] },
  network: Pick<EdgeNetwork, "findConflict">,
): Promise<void> {
  for (const family of FAMILIES) {
    const subnet = subnets[family];
    const refuse = (expected: string): Error =>
      problemsError("ERR_USAGE", [invalid([FIELDS[family]], subnet.text, expected)]);
    const [shortest, longest] = PREFIXES[family];
    if (subnet.family !== family || subnet.prefix < shortest || subnet.prefix > longest) {
      throw refuse(`an IP${family} network from /${shortest} to /${longest}`);
    }
    const range = node.serviceRanges.find((one) => overlaps(one, subnet));
    if (range !== undefined) throw refuse(`a network outside of the service range ${range.text}`);
  }
  const conflict = await network.findConflict({ bridge: node.bridge, subnets });
  if (conflict === undefined) return;
  const expected = `networks that this machine has no address in; it has ${conflict}`;
  const value = `${subnets.v4.text}, ${subnets.v6.text}`;
  throw problemsError("ERR_USAGE", [invalid([FIELDS.v4], value, expected)]);
}
