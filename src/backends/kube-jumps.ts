import { type ChainId, chainId, tableOf } from "../platform/linux/iptables/chain-id.ts";
import { bareRule } from "../platform/linux/iptables/rule.ts";
import {
  CALLS_IN,
  CALLS_OUT,
  FIREWALL,
  FORWARD,
  HEALTH_PORTS,
  HEALTH_SETS,
  IPVS_FILTER,
  IPVS_FIREWALL,
  POSTROUTING,
  REFUSED_EXTERNAL,
  REFUSED_SERVICES,
  SERVICES,
} from "./kube-chains.ts";

/** Chains that hooks lead to: those of all versions of both backends, and of kube-proxy in its modes. */
const ENTRANCES: ReadonlySet<string> = new Set<ChainId>([
  SERVICES,
  POSTROUTING,
  REFUSED_SERVICES,
  REFUSED_EXTERNAL,
  HEALTH_PORTS,
  FIREWALL,
  FORWARD,
  CALLS_IN,
  CALLS_OUT,
  IPVS_FIREWALL,
  IPVS_FILTER,
  HEALTH_SETS,
  // Of kube-proxy's mode IPVS alone.
  "filter KUBE-IPVS-OUT-FILTER",
]);

/** From and to anyone, by every link and protocol: of all packets, or of those that call. */
const SHAPE = /^(?:-m conntrack --(?:ctstate NEW|ctdir ORIGINAL) )?-j (\S+)$/;

/**
 * Whether a rule at a hook is a jump as Portolan or a kube-proxy makes it. Whatever else leads from there
 * to a chain of ours, such as `-s 192.0.2.1/32 -j KUBE-MARK-MASQ`, somebody else put there.
 */
export function isKubeJump(hook: ChainId, rule: string): boolean {
  const target = SHAPE.exec(bareRule(rule))?.[1];
  return target !== undefined && ENTRANCES.has(chainId(tableOf(hook), target));
}
