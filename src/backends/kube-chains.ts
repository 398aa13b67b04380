import type { ChainId } from "../platform/linux/iptables/chain-id.ts";

/** Chains whose rules many services share. */
export const SERVICES: ChainId = "nat KUBE-SERVICES";
export const NODE_PORTS: ChainId = "nat KUBE-NODEPORTS";
/** Listeners on one address, and those on every address of the node. */
export const LISTENERS: ChainId = "nat KUBE-LISTENERS";
export const LISTENERS_ANY: ChainId = "nat KUBE-LISTENERS-ANY";
export const REFUSED_SERVICES: ChainId = "filter KUBE-SERVICES";
export const REFUSED_EXTERNAL: ChainId = "filter KUBE-EXTERNAL-SERVICES";
export const HEALTH_PORTS: ChainId = "filter KUBE-NODEPORTS";
export const FIREWALL: ChainId = "filter KUBE-PROXY-FIREWALL";
export const CLUSTER_IPS: ChainId = "filter KUBE-CLUSTER-IPS";

/** Chains whose rules no service has a part in. */
export const MARK_MASQ: ChainId = "nat KUBE-MARK-MASQ";
export const NOT_LOCAL: ChainId = "nat KUBE-MARK-NOT-LOCAL";
export const POSTROUTING: ChainId = "nat KUBE-POSTROUTING";
export const FORWARD: ChainId = "filter KUBE-FORWARD";
/** What calls of this node, and calls by it, meet: answers and packets of connections that stand do not. */
export const CALLS_IN: ChainId = "filter KUBE-PROXY-INPUT";
export const CALLS_OUT: ChainId = "filter KUBE-PROXY-OUTPUT";
/** Empty: who flushes a table takes it away, which is how that is noticed. */
export const CANARIES: readonly ChainId[] = ["filter KUBE-PROXY-CANARY", "nat KUBE-PROXY-CANARY"];
/** Where the table has rules, too: once it is there, the legacy tools' is met by every packet at five hooks. */
export const MANGLE_CANARY: ChainId = "mangle KUBE-PROXY-CANARY";

/**
 * Kubelet's chain: ours is one rule in it. It is never flushed, and goes only when nothing else is in
 * it.
 */
export const KUBELET_FIREWALL: ChainId = "filter KUBE-FIREWALL";

/** Chains that are there as long as any service has a rule in them. */
const SHARED_PREFIXES: readonly ChainId[] = [
  "filter KUBE-CIP-",
  "filter KUBE-NET-",
  "nat KUBE-SVC-0",
];

/** Those of services, listeners and endpoints. The last one is of older kube-proxies. */
const OWN_PREFIXES: readonly ChainId[] = [
  "nat KUBE-SVC-",
  "nat KUBE-SVL-",
  "nat KUBE-EXT-",
  "nat KUBE-FW-",
  "nat KUBE-SEP-",
  "nat KUBE-XLB-",
];

const OWNED_PREFIXES = [...OWN_PREFIXES, ...SHARED_PREFIXES];

export const SHARED_CHAINS: readonly ChainId[] = [
  SERVICES,
  NODE_PORTS,
  LISTENERS,
  LISTENERS_ANY,
  REFUSED_SERVICES,
  REFUSED_EXTERNAL,
  HEALTH_PORTS,
  FIREWALL,
  CLUSTER_IPS,
];

const FIXED: ReadonlySet<string> = new Set<ChainId>([
  ...SHARED_CHAINS,
  MARK_MASQ,
  NOT_LOCAL,
  POSTROUTING,
  FORWARD,
  CALLS_IN,
  CALLS_OUT,
  ...CANARIES,
  MANGLE_CANARY,
]);

/**
 * Whether a chain is ours, to fill and to remove: the one list of them. Kubelet's (KUBE-MARK-DROP,
 * KUBE-KUBELET-CANARY, KUBE-FIREWALL) are not.
 */
export function isOwnedChain(chain: ChainId): boolean {
  if (FIXED.has(chain)) return true;
  return OWNED_PREFIXES.some((prefix) => chain.startsWith(prefix));
}

/** Those of the backend ipvs alone. */
export const INSIDERS: ChainId = "mangle KUBE-IPVS-INSIDERS";
export const IPVS_FIREWALL: ChainId = "mangle KUBE-PROXY-FIREWALL";
export const SOURCE_RANGES: ChainId = "mangle KUBE-SOURCE-RANGES-FIREWALL";
export const LOCAL_POLICY: ChainId = "nat KUBE-IPVS-LOCAL";
export const IPVS_FILTER: ChainId = "filter KUBE-IPVS-FILTER";
export const HEALTH_SETS: ChainId = "filter KUBE-NODE-PORT";

const IPVS_CHAINS: ReadonlySet<string> = new Set<ChainId>([
  INSIDERS,
  IPVS_FIREWALL,
  SOURCE_RANGES,
  LOCAL_POLICY,
  IPVS_FILTER,
  HEALTH_SETS,
  // What kube-proxy has beside them in its mode IPVS.
  "nat KUBE-LOAD-BALANCER",
  "nat KUBE-NODE-PORT",
  "filter KUBE-SOURCE-RANGES-FIREWALL",
  "filter KUBE-IPVS-OUT-FILTER",
]);

/** Those that both backends fill, each for itself. */
const COMMON: ReadonlySet<string> = new Set<ChainId>([
  SERVICES,
  MARK_MASQ,
  NOT_LOCAL,
  POSTROUTING,
  FORWARD,
  ...CANARIES,
  MANGLE_CANARY,
]);

/** Whether the backend ipvs may have a chain. */
export function isIpvsChain(chain: ChainId): boolean {
  return IPVS_CHAINS.has(chain) || COMMON.has(chain);
}

/** Whether it is of the backend ipvs, or of kube-proxy's mode IPVS, and of nothing else. */
export function isIpvsOnlyChain(chain: ChainId): boolean {
  return IPVS_CHAINS.has(chain);
}

/** Whether a chain is one that a kube-proxy may have left. */
export function isKubeProxyChain(chain: ChainId): boolean {
  return isOwnedChain(chain) || IPVS_CHAINS.has(chain);
}

/** Whether it goes with the last rule in it. */
export function isPassingChain(chain: ChainId): boolean {
  return SHARED_PREFIXES.some((prefix) => chain.startsWith(prefix));
}

const WAY = /-j KUBE-(?:CIP-|NET-|SVC-0)\w+$/;

/** Whether a rule leads to such a chain. */
export function isWay(rule: string): boolean {
  return WAY.test(rule);
}
