import { SOCK_CLOEXEC, SOCK_DGRAM } from "../../platform/linux/abi.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { domainOf } from "../../platform/linux/sockaddr.ts";
import { connect, socket } from "../../platform/linux/socket-calls.ts";
import { pathMtu } from "../../platform/linux/socket-options.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { Peer } from "./peer.ts";
import { SECURE_OVERHEAD_BYTES, UDP_V4_BYTES, UDP_V6_BYTES } from "./wire-form.ts";

/** No way takes less: RFC 8200, 5. Where it does not fit, its datagram is cut on the way. */
const LEAST_BYTES = 1280;

/** How long packets may be, where datagrams may be so long; 0 where that is not known. */
export function packetBytesIn(datagramBytes: number): number {
  return datagramBytes === 0 ? 0 : Math.max(LEAST_BYTES, datagramBytes - SECURE_OVERHEAD_BYTES);
}

/**
 * How long datagrams may be to a peer, by what the system knows of the way: the MTU of the link, or less
 * where a router said so. 0 where it does not know.
 */
export function datagramBytesTo(peer: Peer, isV6Socket: boolean): number {
  const any = ipAddress(isV6Socket ? "::" : "0.0.0.0", 0);
  const descriptor = socket(domainOf(any), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return 0;
  try {
    if (connect(descriptor, peer.name.address, peer.nameBytes) < 0) return 0;
    const mtu = pathMtu(descriptor, isV6Socket);
    if (mtu <= 0) return 0;
    const outer = isV6Socket ? UDP_V6_BYTES : UDP_V4_BYTES;
    return Math.max(0, mtu - outer);
  } finally {
    close(descriptor);
  }
}
