import { familyOf, parseCidr } from "../../../core/model/address.ts";
import {
  type ChainId,
  chainId,
  nameOf,
  tableOf,
} from "../../../platform/linux/iptables/chain-id.ts";
import { renderRule } from "../../../platform/linux/iptables/rule.ts";
import { CLUSTER_IPS } from "../../kube-chains.ts";
import type { PlanContext } from "../../plan-context.ts";
import { clusterIpChain, networkChain } from "./chain-names.ts";
import type { GroupBuilder } from "./group-rules.ts";

/** A chain for the addresses of one network, and the rule that leads to it. */
interface Branch {
  readonly chain: ChainId;
  readonly way: string;
}

/**
 * Adds rules for one destination to a chain that has rules for many. In a large cluster they stand in a
 * chain for the network of the destination, which one for a larger network leads to: a packet walks over
 * some of each, however the addresses are spread.
 * @param destination an address as a network, or a network
 */
export function shareByNetwork(
  builder: GroupBuilder,
  top: ChainId,
  destination: string | undefined,
  { isLarge }: PlanContext,
  rules: readonly string[],
): void {
  const networks = isLarge && destination !== undefined ? networksOf(destination) : [];
  shareInBranches(builder, top, networks, rules);
}

/** What the cluster IPs of a network have in common: by network in clusters of any size. */
export function shareByClusterIp(
  builder: GroupBuilder,
  destination: string,
  { isLarge }: PlanContext,
  rules: readonly string[],
): void {
  const networks = networksOf(destination);
  shareInBranches(builder, CLUSTER_IPS, isLarge ? networks : networks.slice(-1), rules);
}

/** @param networks from the largest to the smallest */
function shareInBranches(
  builder: GroupBuilder,
  top: ChainId,
  networks: readonly string[],
  rules: readonly string[],
): void {
  // A chain without rules would not be made by a change that leads to it.
  if (rules.length === 0) return;
  let chain = top;
  for (const network of networks) {
    const branch = branchOf(top, network);
    builder.share(chain, branch.way);
    chain = branch.chain;
  }
  builder.share(chain, ...rules);
}

/** Thousands of services share some of them, and names of chains are hashes. */
const branches = new Map<string, Branch>();
const MAX_KEPT = 32_768;

function branchOf(top: ChainId, network: string): Branch {
  const key = `${top} ${network}`;
  const known = branches.get(key);
  if (known !== undefined) return known;
  if (branches.size >= MAX_KEPT) branches.clear();
  const table = tableOf(top);
  const name =
    top === CLUSTER_IPS ? clusterIpChain(network) : networkChain(table, nameOf(top), network);
  const made = {
    chain: chainId(table, name),
    way: renderRule({ destination: network, target: name }),
  };
  branches.set(key, made);
  return made;
}

const networksOfAddresses = new Map<string, readonly string[]>();

/** Of the networks that the rules of an address stand with. */
const PREFIX_LENGTHS = { v4: [20, 24], v6: [116, 120] } as const;

/** From the largest on; none for what is larger itself. */
function networksOf(destination: string): readonly string[] {
  const known = networksOfAddresses.get(destination);
  if (known !== undefined) return known;
  if (networksOfAddresses.size >= MAX_KEPT) networksOfAddresses.clear();
  const [ip = "", bits = ""] = destination.split("/");
  const lengths = PREFIX_LENGTHS[familyOf(ip)];
  const isSmall = Number(bits) >= lengths[1];
  const networks = isSmall
    ? lengths.map((length) => parseCidr(`${ip}/${length}`)?.text ?? destination)
    : [];
  networksOfAddresses.set(destination, networks);
  return networks;
}
