import type { SocketAddress } from "../socket-address.ts";
import { SOCKADDR_BYTES } from "./abi.ts";
import { allocateNative } from "./native-memory.ts";
import { getSockaddr, putSockaddr } from "./sockaddr.ts";
import { bind, connect, getpeername, getsockname } from "./socket-calls.ts";
import { checked } from "./system-error.ts";

/** A sockaddr, then its length. One at a time: calls of one thread do not overlap. */
const scratch = allocateNative(SOCKADDR_BYTES + 16);
const LENGTH = SOCKADDR_BYTES;

/** bind(2): 0, or a negative errno. */
export function bindTo(fd: number, address: SocketAddress): number {
  const length = putSockaddr(scratch.view, 0, address);
  return bind(fd, scratch.address, length);
}

/** connect(2): 0, or a negative errno. */
export function connectTo(fd: number, address: SocketAddress): number {
  const length = putSockaddr(scratch.view, 0, address);
  return connect(fd, scratch.address, length);
}

/** getsockname(2). */
export function localAddressOf(fd: number): SocketAddress {
  return nameBy("getsockname", getsockname, fd);
}

/** getpeername(2). */
export function remoteAddressOf(fd: number): SocketAddress {
  return nameBy("getpeername", getpeername, fd);
}

function nameBy(
  name: string,
  call: (fd: number, sockaddr: number, length: number) => number,
  fd: number,
): SocketAddress {
  scratch.view.setInt32(LENGTH, SOCKADDR_BYTES, true);
  checked(name, call(fd, scratch.address, scratch.address + LENGTH));
  return getSockaddr(scratch.view, 0, scratch.view.getInt32(LENGTH, true));
}
