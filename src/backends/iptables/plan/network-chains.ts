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

/** What the rules of a service depend on, beside it. */
export interface ServiceContext extends PlanContext {
  /** One for all services, at all times. */
  readonly networks: Networks;
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
  { isLarge, networks }: ServiceContext,
  rules: readonly string[],
): void {
  const path = isLarge && destination !== undefined ? networks.around(destination) : [];
  shareInBranches(builder, top, path, networks, rules);
}

/** What the cluster IPs of a network have in common: by network in clusters of any size. */
export function shareByClusterIp(
  builder: GroupBuilder,
  destination: string,
  { isLarge, networks }: ServiceContext,
  rules: readonly string[],
): void {
  const path = networks.around(destination);
  shareInBranches(builder, CLUSTER_IPS, isLarge ? path : path.slice(-1), networks, rules);
}

/** @param path the networks to go by, from the largest to the smallest */
function shareInBranches(
  builder: GroupBuilder,
  top: ChainId,
  path: readonly string[],
  networks: Networks,
  rules: readonly string[],
): void {
  // A chain without rules would not be made by a change that leads to it.
  if (rules.length === 0) return;
  let chain = top;
  for (const network of path) {
    const branch = networks.branchOf(top, network);
    builder.share(chain, branch.way);
    chain = branch.chain;
  }
  builder.share(chain, ...rules);
}

/** A chain for the addresses of one network, and the rule that leads to it. */
interface Branch {
  readonly chain: ChainId;
  readonly way: string;
}

/** Of the networks that the rules of an address stand with. */
const PREFIX_LENGTHS = { v4: [20, 24], v6: [116, 120] } as const;
/** With more, all are forgotten: an order in which they go would cost more than to find them anew. */
const MAX_KEPT = 32_768;

/** The networks around addresses, and their chains: thousands of services share some, and names are hashes. */
export class Networks {
  readonly #branches = new Map<string, Branch>();
  readonly #around = new Map<string, readonly string[]>();

  branchOf(top: ChainId, network: string): Branch {
    return known(this.#branches, `${top} ${network}`, () => makeBranch(top, network));
  }

  /** From the largest on; none for what is larger itself. @param destination as a network */
  around(destination: string): readonly string[] {
    return known(this.#around, destination, () => networksAround(destination));
  }
}

function known<V>(kept: Map<string, V>, key: string, make: () => V): V {
  const value = kept.get(key);
  if (value !== undefined) return value;
  if (kept.size >= MAX_KEPT) kept.clear();
  const made = make();
  kept.set(key, made);
  return made;
}

function makeBranch(top: ChainId, network: string): Branch {
  const table = tableOf(top);
  const name =
    top === CLUSTER_IPS ? clusterIpChain(network) : networkChain(table, nameOf(top), network);
  return { chain: chainId(table, name), way: renderRule({ destination: network, target: name }) };
}

function networksAround(destination: string): readonly string[] {
  const [ip = "", bits = ""] = destination.split("/");
  const lengths = PREFIX_LENGTHS[familyOf(ip)];
  if (Number(bits) < lengths[1]) return [];
  return lengths.map((length) => parseCidr(`${ip}/${length}`)?.text ?? destination);
}
