import { SOCK_CLOEXEC, SOCK_DGRAM } from "../../platform/linux/abi.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { domainOf } from "../../platform/linux/sockaddr.ts";
import { connect, socket } from "../../platform/linux/socket-calls.ts";
import { pathMtu } from "../../platform/linux/socket-options.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { Peer } from "./peer.ts";
import { SECURE_OVERHEAD_BYTES, UDP_V4_BYTES, UDP_V6_BYTES } from "./wire-form.ts";

/** No way takes less: RFC 8200, 5. */
const LEAST_BYTES = 1280;

/**
 * How long packets may be to a peer, by what the system knows of the way: the MTU of the link, or less
 * where a router said so. 0 where it does not know.
 */
export function packetBytesTo(peer: Peer, isV6Socket: boolean): number {
  const any = ipAddress(isV6Socket ? "::" : "0.0.0.0", 0);
  const descriptor = socket(domainOf(any), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return 0;
  try {
    if (connect(descriptor, peer.name.address, peer.nameBytes) < 0) return 0;
    const mtu = pathMtu(descriptor, isV6Socket);
    if (mtu <= 0) return 0;
    const outer = isV6Socket ? UDP_V6_BYTES : UDP_V4_BYTES;
    return Math.max(LEAST_BYTES, mtu - outer - SECURE_OVERHEAD_BYTES);
  } finally {
    close(descriptor);
  }
}
