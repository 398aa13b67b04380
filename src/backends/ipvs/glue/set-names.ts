import type { Family } from "../../../core/model/address.ts";
import type { IpSet, IpSetType } from "../../../wire/netlink/ipset/ip-set.ts";
import type { EntranceKind } from "../plan/service-info.ts";

export type SetKey =
  | "loopBack"
  | "clusterIp"
  | "externalIp"
  | "externalIpLocal"
  | "loadBalancer"
  | "loadBalancerLocal"
  | "nodePort"
  | "nodePortLocal"
  | "listener"
  | "listenerLocal"
  | "guarded"
  | "allowed"
  | "healthCheck"
  | "addresses"
  | "rejected"
  | "dropped"
  | "droppedOutside"
  | "inside";

/** All sets, by what they hold. Names are kube-proxy's where it has such a set. */
const SETS: Readonly<Record<SetKey, readonly [string, IpSetType]>> = {
  /** Endpoints of this node, each with itself: who calls itself is masqueraded. */
  loopBack: ["LOOP-BACK", "hash:ip,port,ip"],
  clusterIp: ["CLUSTER-IP", "hash:ip,port"],
  externalIp: ["EXTERNAL-IP", "hash:ip,port"],
  externalIpLocal: ["EXTERNAL-IP-LOCAL", "hash:ip,port"],
  loadBalancer: ["LOAD-BALANCER", "hash:ip,port"],
  loadBalancerLocal: ["LOAD-BALANCER-LOCAL", "hash:ip,port"],
  nodePort: ["NODE-PORT", "hash:ip,port"],
  nodePortLocal: ["NODE-PORT-LOCAL", "hash:ip,port"],
  listener: ["LISTENER", "hash:ip,port"],
  listenerLocal: ["LISTENER-LOCAL", "hash:ip,port"],
  /** Those that are not for everyone, and who may call them. */
  guarded: ["LOAD-BALANCER-FW", "hash:ip,port"],
  allowed: ["LOAD-BALANCER-SOURCE-CIDR", "hash:ip,port,net"],
  healthCheck: ["HEALTH-CHECK-NODE-PORT", "bitmap:port"],
  /** All addresses that this machine has for services only. */
  addresses: ["IPVS-IPS", "hash:ip"],
  rejected: ["IPVS-REJECT", "hash:ip,port"],
  dropped: ["IPVS-DROP", "hash:ip,port"],
  /** Dropped but for insiders. */
  droppedOutside: ["IPVS-DROP-OUTSIDE", "hash:ip,port"],
  /** The marks by which insiders come to all endpoints. */
  inside: ["IPVS-INSIDE", "hash:ip,port"],
};

export type FamilySets = Readonly<Record<SetKey, IpSet>>;

const MAX_NAME_LENGTH = 31;
const PREFIXES: Readonly<Record<Family, string>> = { v4: "KUBE-", v6: "KUBE-6-" };

/** As kube-proxy makes it: what is too long for the kernel is cut. */
export function setName(family: Family, name: string): string {
  return `${PREFIXES[family]}${name}`.slice(0, MAX_NAME_LENGTH);
}

export function setsOf(family: Family): FamilySets {
  const make = (key: SetKey): IpSet => {
    const [name, type] = SETS[key];
    return {
      name: setName(family, name),
      type,
      family,
      hasMarks: key === "inside",
    };
  };
  return {
    loopBack: make("loopBack"),
    clusterIp: make("clusterIp"),
    externalIp: make("externalIp"),
    externalIpLocal: make("externalIpLocal"),
    loadBalancer: make("loadBalancer"),
    loadBalancerLocal: make("loadBalancerLocal"),
    nodePort: make("nodePort"),
    nodePortLocal: make("nodePortLocal"),
    listener: make("listener"),
    listenerLocal: make("listenerLocal"),
    guarded: make("guarded"),
    allowed: make("allowed"),
    healthCheck: make("healthCheck"),
    addresses: make("addresses"),
    rejected: make("rejected"),
    dropped: make("dropped"),
    droppedOutside: make("droppedOutside"),
    inside: make("inside"),
  };
}

/** The sets of what is served, by the kind of the address: for everyone, and with policy Local. */
export const SERVED_SETS: Readonly<Record<EntranceKind, readonly [SetKey, SetKey]>> = {
  "cluster-ip": ["clusterIp", "clusterIp"],
  "external-ip": ["externalIp", "externalIpLocal"],
  "load-balancer-ip": ["loadBalancer", "loadBalancerLocal"],
  "node-port": ["nodePort", "nodePortLocal"],
  "listen-address": ["listener", "listenerLocal"],
};
