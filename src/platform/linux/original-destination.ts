import type { IpSocketAddress, SocketAddress } from "../socket-address.ts";
import { IPPROTO_IPV6, SOCKADDR_BYTES } from "./abi.ts";
import { allocateNative } from "./native-memory.ts";
import { getSockaddr } from "./sockaddr.ts";
import { getsockopt } from "./socket-calls.ts";

const IPPROTO_IP = 0;
/** linux/netfilter_ipv4.h; the same number in linux/netfilter_ipv6/ip6_tables.h. */
const SO_ORIGINAL_DST = 80;

const scratch = allocateNative(SOCKADDR_BYTES + 16);
const LENGTH = SOCKADDR_BYTES;

/**
 * Where the client of a TCP connection called before the kernel's rules led it here; its own local
 * address where they did not, and undefined where the kernel keeps no record of connections.
 */
export function originalDestinationOf(
  fd: number,
  family: IpSocketAddress["family"],
): SocketAddress | undefined {
  scratch.view.setInt32(LENGTH, SOCKADDR_BYTES, true);
  const level = family === "v4" ? IPPROTO_IP : IPPROTO_IPV6;
  const length = scratch.address + LENGTH;
  const result = getsockopt(fd, level, SO_ORIGINAL_DST, scratch.address, length);
  if (result < 0) return undefined;
  return getSockaddr(scratch.view, 0, scratch.view.getInt32(LENGTH, true));
}
