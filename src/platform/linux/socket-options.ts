import {
  IP_MTU,
  IP_PKTINFO,
  IPPROTO_IP,
  IPPROTO_IPV6,
  IPPROTO_TCP,
  IPV6_MTU,
  IPV6_RECVPKTINFO,
  IPV6_V6ONLY,
  LINGER_BYTES,
  SO_ERROR,
  SO_LINGER,
  SO_RCVBUF,
  SO_RCVBUFFORCE,
  SO_RCVTIMEO,
  SO_REUSEADDR,
  SO_REUSEPORT,
  SO_SNDBUF,
  SO_SNDBUFFORCE,
  SO_SNDTIMEO,
  SOL_SOCKET,
  SOL_UDP,
  TCP_NODELAY,
  TIMEVAL_BYTES,
  UDP_GRO,
} from "./abi.ts";
import { allocateNative, putSize } from "./native-memory.ts";
import { getsockopt, setsockopt } from "./socket-calls.ts";

const INT_BYTES = 4;
const MS_PER_SECOND = 1000;
const US_PER_MS = 1000;
const LENGTH = 16;

/** Memory for one value at a time: calls of one thread do not overlap. */
const scratch = allocateNative(32);

/** Constants in native memory: the options of every connection are set without writing a byte. */
const ONE = allocateNative(INT_BYTES);
ONE.view.setInt32(0, 1, true);
/** On, 0 seconds: what is unsent is dropped, and the peer gets a RST. */
const LINGER_RESET = allocateNative(LINGER_BYTES);
LINGER_RESET.view.setInt32(0, 1, true);

/** tcp(7): small writes leave at once. */
export function setNoDelay(fd: number): number {
  return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, ONE.address, INT_BYTES);
}

/** socket(7): the next close resets the connection. */
export function setLingerReset(fd: number): number {
  return setsockopt(fd, SOL_SOCKET, SO_LINGER, LINGER_RESET.address, LINGER_BYTES);
}

/** socket(7): an address whose old connections linger can be bound again. */
export function setReuseAddress(fd: number): number {
  return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, ONE.address, INT_BYTES);
}

/** socket(7): several sockets share one address, and the kernel spreads connections over them. */
export function setReusePort(fd: number): number {
  return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, ONE.address, INT_BYTES);
}

/** ipv6(7): `::` does not take the IPv4 addresses too. */
export function setV6Only(fd: number): number {
  return setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, ONE.address, INT_BYTES);
}

/** ip(7), ipv6(7): datagrams come with the address of this machine that they were sent to. */
export function setPacketInfo(fd: number, isV6: boolean): number {
  return isV6
    ? setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, ONE.address, INT_BYTES)
    : setsockopt(fd, IPPROTO_IP, IP_PKTINFO, ONE.address, INT_BYTES);
}

/** socket(7): the kernel doubles the value and caps it at net.core.rmem_max. */
export function setReceiveBuffer(fd: number, byteCount: number): number {
  return setInt(fd, SO_RCVBUF, byteCount);
}

/** socket(7): the kernel doubles the value and caps it at net.core.wmem_max. */
export function setSendBuffer(fd: number, byteCount: number): number {
  return setInt(fd, SO_SNDBUF, byteCount);
}

/** The same in both directions without the caps; only root may. */
export function forceBuffers(fd: number, byteCount: number): number {
  return Math.min(setInt(fd, SO_RCVBUFFORCE, byteCount), setInt(fd, SO_SNDBUFFORCE, byteCount));
}

/** udp(7): datagrams of one sender that came together are received as one message. */
export function setUdpGro(fd: number): number {
  return setsockopt(fd, SOL_UDP, UDP_GRO, ONE.address, INT_BYTES);
}

/** ip(7), ipv6(7): how long packets may be to where the socket is connected to; a negative errno. */
export function pathMtu(fd: number, isV6: boolean): number {
  return isV6 ? getInt(fd, IPV6_MTU, IPPROTO_IPV6) : getInt(fd, IP_MTU, IPPROTO_IP);
}

/** socket(7): after that time a blocking call ends with EAGAIN. */
export function setTimeouts(fd: number, timeoutMs: number): number {
  putSize(scratch.view, 0, Math.floor(timeoutMs / MS_PER_SECOND));
  putSize(scratch.view, 8, (timeoutMs % MS_PER_SECOND) * US_PER_MS);
  const result = setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, scratch.address, TIMEVAL_BYTES);
  if (result < 0) return result;
  return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, scratch.address, TIMEVAL_BYTES);
}

/** socket(7), SO_ERROR: the negative errno that waits on a socket, and clears it; 0 where none does. */
export function takeSocketError(fd: number): number {
  const value = getInt(fd, SO_ERROR);
  return value > 0 ? -value : value;
}

function setInt(fd: number, option: number, value: number): number {
  scratch.view.setInt32(0, value, true);
  return setsockopt(fd, SOL_SOCKET, option, scratch.address, INT_BYTES);
}

function getInt(fd: number, option: number, level: number = SOL_SOCKET): number {
  scratch.view.setInt32(LENGTH, INT_BYTES, true);
  const result = getsockopt(fd, level, option, scratch.address, scratch.address + LENGTH);
  return result < 0 ? result : scratch.view.getInt32(0, true);
}
