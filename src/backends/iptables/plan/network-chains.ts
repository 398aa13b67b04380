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
 * chain for the network of the destination: a packet walks over the networks, and the addresses of one.
 * @param destination an address as a network, or a network
 */
export function shareByNetwork(
  builder: GroupBuilder,
  top: ChainId,
  destination: string | undefined,
  { isLarge }: PlanContext,
  rules: readonly string[],
): void {
  const network = isLarge && destination !== undefined ? networkOf(destination) : undefined;
  if (network === undefined) builder.share(top, ...rules);
  else shareInBranch(builder, top, network, rules);
}

/** What the cluster IPs of a network have in common, in clusters of any size. */
export function shareByClusterIp(
  builder: GroupBuilder,
  destination: string,
  rules: readonly string[],
): void {
  shareInBranch(builder, CLUSTER_IPS, networkOf(destination) ?? destination, rules);
}

function shareInBranch(
  builder: GroupBuilder,
  top: ChainId,
  network: string,
  rules: readonly string[],
): void {
  const { chain, way } = branchOf(top, network);
  builder.share(chain, ...rules);
  builder.share(top, way);
}

/** Thousands of services share a few of them, and names of chains are hashes. */
const branches = new Map<string, Branch>();
const MAX_KEPT_BRANCHES = 8192;

function branchOf(top: ChainId, network: string): Branch {
  const key = `${top} ${network}`;
  const known = branches.get(key);
  if (known !== undefined) return known;
  if (branches.size >= MAX_KEPT_BRANCHES) branches.clear();
  const name = top === CLUSTER_IPS ? clusterIpChain(network) : networkChain(nameOf(top), network);
  const chain = chainId(tableOf(top), name);
  const made = { chain, way: renderRule({ destination: network, target: name }) };
  branches.set(key, made);
  return made;
}

const PREFIX_LENGTHS = { v4: 24, v6: 120 } as const;

/** The network that the rules of an address stand with: a /24, or a /120; undefined for a larger one. */
function networkOf(destination: string): string | undefined {
  const [ip = "", bits = ""] = destination.split("/");
  const family = familyOf(ip);
  const length = PREFIX_LENGTHS[family];
  if (Number(bits) < length) return undefined;
  if (family === "v4") return `${ip.slice(0, ip.lastIndexOf("."))}.0/${length}`;
  return parseCidr(`${ip}/${length}`)?.text;
}
