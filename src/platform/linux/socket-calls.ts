/** Calls on sockets. All return a negative errno where they fail; none throws. */
import { bindCall, failure } from "./binding.ts";

const cSocket = bindCall<[number, number, number]>("int socket(int, int, int)");
const cSocketpair = bindCall<[number, number, number, number]>(
  "int socketpair(int, int, int, uintptr_t)",
);
const cBind = bindCall<[number, number, number]>("int bind(int, uintptr_t, uint)");
const cListen = bindCall<[number, number]>("int listen(int, int)");
const cAccept4 = bindCall<[number, number, number, number]>(
  "int accept4(int, uintptr_t, uintptr_t, int)",
);
const cConnect = bindCall<[number, number, number]>("int connect(int, uintptr_t, uint)");
const cShutdown = bindCall<[number, number]>("int shutdown(int, int)");
const cGetsockopt = bindCall<[number, number, number, number, number]>(
  "int getsockopt(int, int, int, uintptr_t, uintptr_t)",
);
const cSetsockopt = bindCall<[number, number, number, number, number]>(
  "int setsockopt(int, int, int, uintptr_t, uint)",
);
const cGetsockname = bindCall<[number, number, number]>(
  "int getsockname(int, uintptr_t, uintptr_t)",
);
const cGetpeername = bindCall<[number, number, number]>(
  "int getpeername(int, uintptr_t, uintptr_t)",
);
const cRecv = bindCall<[number, number, number, number]>("int recv(int, uintptr_t, size_t, int)");
const cSend = bindCall<[number, number, number, number]>("int send(int, uintptr_t, size_t, int)");
const cSendmsg = bindCall<[number, number, number]>("int sendmsg(int, uintptr_t, int)");
const cRecvmsg = bindCall<[number, number, number]>("int recvmsg(int, uintptr_t, int)");
const cSendmmsg = bindCall<[number, number, number, number]>(
  "int sendmmsg(int, uintptr_t, uint, int)",
);
const cRecvmmsg = bindCall<[number, number, number, number, number]>(
  "int recvmmsg(int, uintptr_t, uint, int, uintptr_t)",
);

/** socket(2): a descriptor. */
export function socket(domain: number, type: number, protocol: number): number {
  const result = cSocket(domain, type, protocol);
  return result < 0 ? failure() : result;
}

/** socketpair(2): writes two descriptors as ints. */
export function socketpair(domain: number, type: number, address: number): number {
  return cSocketpair(domain, type, 0, address) < 0 ? failure() : 0;
}

/** bind(2), to a sockaddr. */
export function bind(fd: number, sockaddr: number, byteCount: number): number {
  return cBind(fd, sockaddr, byteCount) < 0 ? failure() : 0;
}

/** listen(2). */
export function listen(fd: number, backlog: number): number {
  return cListen(fd, backlog) < 0 ? failure() : 0;
}

/** accept4(2): a descriptor; the sockaddr and its length (an int, in and out) may be 0. */
export function accept4(fd: number, sockaddr: number, length: number, flags: number): number {
  const result = cAccept4(fd, sockaddr, length, flags);
  return result < 0 ? failure() : result;
}

/** connect(2): EINPROGRESS where a non-blocking socket is under way. */
export function connect(fd: number, sockaddr: number, byteCount: number): number {
  return cConnect(fd, sockaddr, byteCount) < 0 ? failure() : 0;
}

/** shutdown(2). */
export function shutdown(fd: number, how: number): number {
  return cShutdown(fd, how) < 0 ? failure() : 0;
}

/** getsockopt(2); `length` is the address of an int, in and out. */
export function getsockopt(
  fd: number,
  level: number,
  option: number,
  value: number,
  length: number,
): number {
  return cGetsockopt(fd, level, option, value, length) < 0 ? failure() : 0;
}

/** setsockopt(2). */
export function setsockopt(
  fd: number,
  level: number,
  option: number,
  value: number,
  byteCount: number,
): number {
  return cSetsockopt(fd, level, option, value, byteCount) < 0 ? failure() : 0;
}

/** getsockname(2); `length` is the address of an int, in and out. */
export function getsockname(fd: number, sockaddr: number, length: number): number {
  return cGetsockname(fd, sockaddr, length) < 0 ? failure() : 0;
}

/** getpeername(2); `length` is the address of an int, in and out. */
export function getpeername(fd: number, sockaddr: number, length: number): number {
  return cGetpeername(fd, sockaddr, length) < 0 ? failure() : 0;
}

/** recv(2): how many bytes; 0 at the end of a stream. The kernel does less for it than for read(2). */
export function recv(fd: number, address: number, byteCount: number): number {
  const result = cRecv(fd, address, byteCount, 0);
  return result < 0 ? failure() : result;
}

/** send(2): how many bytes. */
export function send(fd: number, address: number, byteCount: number, flags: number): number {
  const result = cSend(fd, address, byteCount, flags);
  return result < 0 ? failure() : result;
}

/** sendmsg(2): how many bytes. */
export function sendmsg(fd: number, msghdr: number, flags: number): number {
  const result = cSendmsg(fd, msghdr, flags);
  return result < 0 ? failure() : result;
}

/** recvmsg(2): how many bytes; 0 at the end of a stream. */
export function recvmsg(fd: number, msghdr: number, flags: number): number {
  const result = cRecvmsg(fd, msghdr, flags);
  return result < 0 ? failure() : result;
}

/** sendmmsg(2): how many messages; an error only where the first one failed. */
export function sendmmsg(fd: number, mmsghdrs: number, count: number, flags: number): number {
  const result = cSendmmsg(fd, mmsghdrs, count, flags);
  return result < 0 ? failure() : result;
}

/** recvmmsg(2) without a time-out: how many messages. */
export function recvmmsg(fd: number, mmsghdrs: number, count: number, flags: number): number {
  const result = cRecvmmsg(fd, mmsghdrs, count, flags, 0);
  return result < 0 ? failure() : result;
}
