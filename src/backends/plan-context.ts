import { type Family, familyOf, isLoopback } from "../core/model/address.ts";
import { answersNodePorts, type RouteNode } from "../core/route/route-node.ts";
import type { RoutePolicy } from "../core/route/route-policy.ts";
import { hostNetwork, type RuleFields } from "../platform/linux/iptables/rule.ts";

/** How a rule tells workloads of the cluster from everyone else. */
export interface LocalMatches {
  /** One rule for each: any of them means a workload. */
  readonly local: readonly Pick<RuleFields, "source" | "inInterface">[];
  /** What everyone else is known by; undefined where it takes a chain (`NOT_LOCAL_CHAIN`). */
  readonly notLocal: Pick<RuleFields, "notSource" | "notInInterface"> | undefined;
}

/** All that the rules of one family depend on beside services and endpoints. */
export interface PlanContext {
  readonly family: Family;
  readonly policy: RoutePolicy;
  readonly node: RouteNode;
  /** Undefined where workloads can not be told. */
  readonly localMatches: LocalMatches | undefined;
  /** Where node ports answer, as networks. */
  readonly nodePortDestinations: readonly string[];
  /** Where a listener on all addresses answers, as networks. */
  readonly everyDestination: readonly string[];
  /** The bit that marks what is to be masqueraded: `0x4000`. */
  readonly mark: string;
  /**
   * Whether there are so many services that rules say nothing of what they are for, and that those for one
   * address are looked for by its network.
   */
  readonly isLarge: boolean;
  /** Whether packets that conntrack takes for invalid are let through, as the kernel was told. */
  readonly isLiberal: boolean;
}

export interface ContextInput
  extends Pick<PlanContext, "family" | "policy" | "node" | "isLarge" | "isLiberal"> {
  readonly masqueradeBit: number;
  /** Interfaces of workloads, as iptables writes them: `cali+`; only for detection by interface. */
  readonly workloadInterfaces: readonly string[];
}

/** What of loopback can be led on: no answer finds back to ::1. */
const LOOPBACK: Readonly<Record<Family, readonly string[]>> = { v4: ["127.0.0.0/8"], v6: [] };

export function createPlanContext(input: ContextInput): PlanContext {
  const { masqueradeBit, workloadInterfaces, ...rest } = input;
  const mark = `0x${(2 ** masqueradeBit).toString(16)}`;
  return {
    ...rest,
    mark,
    localMatches: localMatchesOf(input, workloadInterfaces),
    nodePortDestinations: nodePortDestinations(input),
    everyDestination: everyDestination(input),
  };
}

function localMatchesOf(
  { family, policy, node }: ContextInput,
  interfaces: readonly string[],
): LocalMatches | undefined {
  const { localDetection } = policy;
  switch (localDetection.mode) {
    case "none":
      return undefined;
    case "interface": {
      const [only, ...others] = interfaces;
      if (only === undefined) return undefined;
      return {
        local: interfaces.map((inInterface) => ({ inInterface })),
        notLocal: others.length === 0 ? { notInInterface: only } : undefined,
      };
    }
    case "cluster-cidr":
      return matchesOfNetworks(localDetection.cidrs, family);
    case "node-cidr":
      return matchesOfNetworks(node.subnets, family);
  }
}

function matchesOfNetworks(networks: readonly string[], family: Family): LocalMatches | undefined {
  const own = networks.filter((network) => familyOf(network) === family);
  const [only, ...others] = own;
  if (only === undefined) return undefined;
  return {
    local: own.map((source) => ({ source })),
    notLocal: others.length === 0 ? { notSource: only } : undefined,
  };
}

function nodePortDestinations({ family, policy, node }: ContextInput): readonly string[] {
  const which = policy.nodePortAddresses;
  const own = addressesOf(node, family)
    .filter((ip) => answersNodePorts(node, which, ip))
    .map(hostNetwork);
  if (which === "localhost") return [...own, ...LOOPBACK[family]];
  if (typeof which === "string" || family === "v6") return own;
  return [...own, ...which.filter((network) => isLoopback(network.split("/")[0] ?? ""))];
}

function everyDestination({ family, node }: ContextInput): readonly string[] {
  return [...addressesOf(node, family).map(hostNetwork), ...LOOPBACK[family]];
}

function addressesOf(node: RouteNode, family: Family): readonly string[] {
  return node.addresses.filter((ip) => familyOf(ip) === family);
}
