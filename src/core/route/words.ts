import { formatHostPort } from "../model/address.ts";
import type { Packet } from "./packet.ts";
import type { AddressType, Matched } from "./verdict.ts";

const TYPE_WORDS: Readonly<Record<AddressType, string>> = {
  "cluster-ip": "a cluster IP",
  "external-ip": "an external IP",
  "load-balancer-ip": "a load-balancer IP",
  "node-port": "a node port",
  "listen-address": "a listen address",
  "edge-ip": "an edge address",
};

/** `10.0.0.1:80/TCP`. */
export function destinationText({ dst, dstPort, protocol }: Packet): string {
  return `${formatHostPort(dst, dstPort)}/${protocol}`;
}

/** `10.0.0.1:80/TCP is a cluster IP of Service default/web, port http`. */
export function matchText({ type, service, port, listener }: Matched, packet: Packet): string {
  const through = listener === undefined ? "" : ` (Listener ${listener})`;
  const which = port === undefined || port.name === "" ? "" : `, port ${port.name}`;
  return `${destinationText(packet)} is ${TYPE_WORDS[type]} of Service ${service}${which}${through}`;
}
