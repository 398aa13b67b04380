import { FAMILIES, type Family } from "../../core/model/address.ts";
import type { Protocol } from "../../core/model/common.ts";
import type { IpSet, IpSetType } from "../../wire/netlink/ipset/ip-set.ts";
import { setName } from "./glue/set-names.ts";

/** A set of kube-proxy's mode IPVS. */
export interface KubeProxySet extends IpSet {
  /** Where it holds node ports: of which protocol. */
  readonly nodePorts: Protocol | undefined;
}

const WITHOUT_NODE_PORTS: Readonly<Record<string, IpSetType>> = {
  "LOOP-BACK": "hash:ip,port,ip",
  "CLUSTER-IP": "hash:ip,port",
  "EXTERNAL-IP": "hash:ip,port",
  "EXTERNAL-IP-LOCAL": "hash:ip,port",
  "LOAD-BALANCER": "hash:ip,port",
  "LOAD-BALANCER-LOCAL": "hash:ip,port",
  "LOAD-BALANCER-FW": "hash:ip,port",
  "LOAD-BALANCER-SOURCE-IP": "hash:ip,port,ip",
  "LOAD-BALANCER-SOURCE-CIDR": "hash:ip,port,net",
  "HEALTH-CHECK-NODE-PORT": "bitmap:port",
  "IPVS-IPS": "hash:ip",
};
const WITH_NODE_PORTS: readonly (readonly [string, Protocol, IpSetType])[] = [
  ["NODE-PORT-TCP", "TCP", "bitmap:port"],
  ["NODE-PORT-LOCAL-TCP", "TCP", "bitmap:port"],
  ["NODE-PORT-UDP", "UDP", "bitmap:port"],
  ["NODE-PORT-LOCAL-UDP", "UDP", "bitmap:port"],
  ["NODE-PORT-SCTP-HASH", "SCTP", "hash:ip,port"],
  ["NODE-PORT-LOCAL-SCTP-HASH", "SCTP", "hash:ip,port"],
];

/** All sets that a kube-proxy makes: the one list of them. */
export const KUBE_PROXY_SETS: readonly KubeProxySet[] = FAMILIES.flatMap((family) => [
  ...Object.entries(WITHOUT_NODE_PORTS).map(([name, type]) => made(family, name, type, undefined)),
  ...WITH_NODE_PORTS.map(([name, protocol, type]) => made(family, name, type, protocol)),
]);

function made(
  family: Family,
  name: string,
  type: IpSetType,
  nodePorts: Protocol | undefined,
): KubeProxySet {
  return { name: setName(family, name), type, family, hasMarks: false, nodePorts };
}
