import { hash as digestOf } from "node:crypto";
import { formatHostPort } from "../../../core/model/address.ts";
import type { Protocol } from "../../../core/model/common.ts";
import type { ServicePort } from "../../../core/model/service.ts";
import type { TableName } from "../../../platform/linux/iptables/chain-id.ts";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HASHED_BYTES = 10;
const BITS_PER_CHARACTER = 5;

/** kube-proxy's name of a service's port: `default/kubernetes:https`. */
export function servicePortName(serviceKey: string, port: ServicePort): string {
  return port.name === "" ? serviceKey : `${serviceKey}:${port.name}`;
}

export interface ServiceChains {
  /** To the endpoints of the whole cluster, and to those of this node. */
  readonly cluster: string;
  readonly local: string;
  /** What comes from outside, and what of it is let in. */
  readonly external: string;
  readonly firewall: string;
}

/** The chains of a service's port, called as kube-proxy calls them. */
export function serviceChains(portName: string, protocol: Protocol): ServiceChains {
  const hash = chainHash(`${portName}${protocol.toLowerCase()}`);
  return {
    cluster: `KUBE-SVC-${hash}`,
    local: `KUBE-SVL-${hash}`,
    external: `KUBE-EXT-${hash}`,
    firewall: `KUBE-FW-${hash}`,
  };
}

/** The chain of an endpoint of a service's port; also the name of the list of clients bound to it. */
export function endpointChain(
  portName: string,
  protocol: Protocol,
  ip: string,
  port: number,
): string {
  const where = formatHostPort(ip, port);
  return `KUBE-SEP-${chainHash(`${portName}${protocol.toLowerCase()}${where}`)}`;
}

/** The chain that says who may call a listener. */
export function listenerFirewallChain(listenerKey: string): string {
  return `KUBE-FW-${chainHash(`listener ${listenerKey}`)}`;
}

/** The chain for the cluster IPs of one network. */
export function clusterIpChain(network: string): string {
  return `KUBE-CIP-${chainHash(network)}`;
}

/**
 * The chain for what another one has for the addresses of one network. In the table nat it leads to chains of
 * services: a kube-proxy that comes back takes it for one of its own that is stale, and removes it with them.
 * No hash has a 0.
 */
export function networkChain(table: TableName, chain: string, network: string): string {
  const hash = chainHash(`${chain} ${network}`);
  return table === "nat" ? `KUBE-SVC-0${hash}` : `KUBE-NET-${hash}`;
}

/** The first 16 characters of the base 32 (RFC 4648) of a SHA-256: its first 10 bytes. */
function chainHash(text: string): string {
  // A byte a character: half the cost of a buffer.
  const digest = digestOf("sha256", text, "binary");
  let hash = "";
  let value = 0;
  let bits = 0;
  for (let index = 0; index < HASHED_BYTES; index += 1) {
    value = ((value << 8) | digest.charCodeAt(index)) & 0xffff;
    bits += 8;
    while (bits >= BITS_PER_CHARACTER) {
      bits -= BITS_PER_CHARACTER;
      hash += BASE32[(value >> bits) & 31];
    }
  }
  return hash;
}
