import { familyOf } from "../../src/core/model/address.ts";
import type { Protocol } from "../../src/core/model/common.ts";
import { ERRNO } from "../../src/platform/errno.ts";
import {
  IPPROTO_IPV6,
  MSGHDR_BYTES,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOCKADDR_BYTES,
} from "../../src/platform/linux/abi.ts";
import { ReceiveBatch, SendBatch } from "../../src/platform/linux/datagram-batch.ts";
import { close, read, write } from "../../src/platform/linux/io-calls.ts";
import { allocateNative } from "../../src/platform/linux/native-memory.ts";
import { domainOf, putSockaddr } from "../../src/platform/linux/sockaddr.ts";
import { recvmsg, setsockopt, socket } from "../../src/platform/linux/socket-calls.ts";
import { bindTo } from "../../src/platform/linux/socket-names.ts";
import { setReuseAddress, setV6Only } from "../../src/platform/linux/socket-options.ts";
import { checked } from "../../src/platform/linux/system-error.ts";
import { ipAddress, type SocketAddress } from "../../src/platform/socket-address.ts";

const SOCK_RAW = 3;
const IPPROTO_IP = 0;
const IPPROTO_SCTP = 132;
/** ip(7), ipv6(7). */
const IP_RECVERR = 11;
const IP_FREEBIND = 15;
const IPV6_RECVERR = 25;
const IPV6_FREEBIND = 78;
/** recv(2). */
const MSG_ERRQUEUE = 0x2000;

/** There are no SCTP sockets in many kernels: its packets are written and read as they are. */
const KINDS: Readonly<Record<Protocol, { readonly type: number; readonly protocol: number }>> = {
  TCP: { type: SOCK_STREAM, protocol: 0 },
  UDP: { type: SOCK_DGRAM, protocol: 0 },
  SCTP: { type: SOCK_RAW, protocol: IPPROTO_SCTP },
};

const ONE = allocateNative(4);
ONE.view.setInt32(0, 1, true);
/** A msghdr without room for anything. */
const NO_MESSAGE = allocateNative(MSGHDR_BYTES);
const BUFFER_BYTES = 4096;
const buffer = allocateNative(BUFFER_BYTES);
const name = allocateNative(SOCKADDR_BYTES);
const incoming = new ReceiveBatch(1);
const outgoing = new SendBatch(1);

/** As the kernel wants it: raw sockets have no ports. */
export function endOf(protocol: Protocol, ip: string, port: number): SocketAddress {
  return ipAddress(ip, protocol === "SCTP" ? 0 : port);
}

/**
 * A socket that does not block, bound in the namespace of the caller, even to an address that is not
 * assigned there. @returns the descriptor, or -EADDRINUSE
 */
export function openBound(protocol: Protocol, ip: string, port: number): number {
  const address = endOf(protocol, ip, port);
  const kind = KINDS[protocol];
  const flags = kind.type | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const fd = checked("socket", socket(domainOf(address), flags, kind.protocol));
  const isV6 = familyOf(ip) === "v6";
  enable(fd, isV6 ? IPPROTO_IPV6 : IPPROTO_IP, isV6 ? IPV6_FREEBIND : IP_FREEBIND);
  if (protocol === "TCP") setReuseAddress(fd);
  if (isV6) setV6Only(fd);
  const bound = bindTo(fd, address);
  if (bound >= 0) return fd;
  close(fd);
  return bound === -ERRNO.EADDRINUSE ? bound : checked("bind", bound, ip);
}

/**
 * The same for one who calls, and wants to hear of errors that the kernel else keeps to itself. Not for
 * servers: errors that nobody takes from the queue would be told again and again.
 */
export function openCaller(protocol: Protocol, ip: string, port: number): number {
  const fd = openBound(protocol, ip, port);
  if (fd < 0 || protocol === "UDP") return fd;
  const isV6 = familyOf(ip) === "v6";
  enable(fd, isV6 ? IPPROTO_IPV6 : IPPROTO_IP, isV6 ? IPV6_RECVERR : IP_RECVERR);
  return fd;
}

function enable(fd: number, level: number, option: number): void {
  checked("setsockopt", setsockopt(fd, level, option, ONE.address, 4));
}

/**
 * Whether a router or a host told that a packet of the socket could not be delivered. An error that
 * comes while connect(2) is still busy is seen only here until the packet is sent again.
 */
export function wasToldOff(fd: number): boolean {
  return recvmsg(fd, NO_MESSAGE.address, MSG_ERRQUEUE) >= 0;
}

/** What a stream has for its reader: text, empty at its end, or a negative errno. */
export function readText(fd: number): string | number {
  const count = read(fd, buffer.address, BUFFER_BYTES);
  return count < 0 ? count : Buffer.from(buffer.bytes.subarray(0, count)).toString();
}

export function writeText(fd: number, text: string): number {
  const count = buffer.bytes.length < text.length ? 0 : Buffer.from(text).copy(buffer.bytes);
  return write(fd, buffer.address, count);
}

export interface Received {
  readonly bytes: Buffer;
  readonly from: SocketAddress;
}

/** The next datagram, or a negative errno. */
export function receiveFrom(fd: number): Received | number {
  const result = incoming.receive(fd);
  if (result < 0) return result;
  return { bytes: Buffer.from(incoming.bytesOf(0)), from: incoming.senderOf(0) };
}

/** How many datagrams went out, or a negative errno. @param to nobody for a connected socket */
export function sendTo(fd: number, bytes: Uint8Array, to?: SocketAddress): number {
  buffer.bytes.set(bytes);
  const nameBytes = to === undefined ? 0 : putSockaddr(name.view, 0, to);
  const encoded = { address: name.address, bytes: name.bytes.subarray(0, nameBytes) };
  outgoing.clear();
  outgoing.add(buffer.address, bytes.length, to && { encoded });
  return outgoing.send(fd, 0);
}
