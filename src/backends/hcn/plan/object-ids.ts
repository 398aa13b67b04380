import ipaddr from "ipaddr.js";
import type { Family } from "../../../core/model/address.ts";
import type { Protocol } from "../../../core/model/common.ts";
import { ownGuid } from "../../../platform/windows/guid.ts";

const MAC_PREFIX = [0x02, 0x11] as const;
const MAC_TAIL_BYTES = 4;

/** Always the same for an address of a network, in every run. */
export function remoteEndpointId(networkId: string, ip: string): string {
  return ownGuid(`endpoint ${networkId} ${ip}`);
}

export function sourceVipId(networkId: string, ip: string): string {
  return ownGuid(`source vip ${networkId} ${ip}`);
}

export interface Frontend {
  readonly family: Family;
  readonly protocol: Protocol;
  /** Empty: all addresses of the node. */
  readonly vip: string;
  readonly port: number;
}

/** HNS has one load balancer for an address and port: that is what makes it the same one. */
export function loadBalancerId({ family, protocol, vip, port }: Frontend): string {
  return ownGuid(`load balancer ${family} ${protocol} ${vip} ${port}`);
}

/** As kube-proxy makes it up: `02-11-0A-F4-02-05` for 10.244.2.5; IPv6 by its last bytes, backwards. */
export function remoteMac(ip: string): string {
  const bytes = ipaddr.parse(ip).toByteArray();
  const tail = bytes.length === MAC_TAIL_BYTES ? bytes : bytes.slice(-MAC_TAIL_BYTES).reverse();
  const hex = [...MAC_PREFIX, ...tail].map((byte) => byte.toString(16).padStart(2, "0"));
  return hex.join("-").toUpperCase();
}
