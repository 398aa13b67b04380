/** Calls on descriptors of any kind. All return a negative errno where they fail; none throws. */
import { F_DUPFD_CLOEXEC } from "./abi.ts";
import { bindCall, bindSlowCall, failure } from "./binding.ts";

const cRead = bindCall<[number, number, number]>("int read(int, uintptr_t, size_t)");
const WRITE = "int write(int, uintptr_t, size_t)";
const cWrite = bindCall<[number, number, number]>(WRITE);
const cSlowWrite = bindSlowCall<[number, number, number]>(WRITE);
const cWritev = bindCall<[number, number, number]>("int writev(int, uintptr_t, int)");
const cIoctl = bindCall<[number, number, number]>("int ioctl(int, ulong, uintptr_t)");
const cSplice = bindCall<[number, number, number, number, number, number]>(
  "int splice(int, uintptr_t, int, uintptr_t, size_t, uint)",
);
const cPipe2 = bindCall<[number, number]>("int pipe2(uintptr_t, int)");
const cClose = bindCall<[number]>("int close(int)");
const cFcntl = bindCall<[number, number, number]>("int fcntl(int, int, int)");
const cEventfd = bindCall<[number, number]>("int eventfd(uint, int)");

/** read(2): how many bytes; 0 at the end of a stream. */
export function read(fd: number, address: number, byteCount: number): number {
  const result = cRead(fd, address, byteCount);
  return result < 0 ? failure() : result;
}

/** write(2): how many bytes. Node ignores SIGPIPE, so a closed reader is EPIPE. */
export function write(fd: number, address: number, byteCount: number): number {
  const result = cWrite(fd, address, byteCount);
  return result < 0 ? failure() : result;
}

/** The same on another thread, where the kernel is busy with it for long. */
export function writeSlowly(fd: number, address: number, byteCount: number): Promise<number> {
  return cSlowWrite(fd, address, byteCount);
}

/** writev(2): how many bytes. */
export function writev(fd: number, iovecs: number, count: number): number {
  const result = cWritev(fd, iovecs, count);
  return result < 0 ? failure() : result;
}

/** ioctl(2) with a number or an address as argument. */
export function ioctl(fd: number, request: number, argument: number): number {
  const result = cIoctl(fd, request, argument);
  return result < 0 ? failure() : result;
}

/** splice(2) without offsets: one of the two is a pipe. */
export function splice(fromFd: number, toFd: number, byteCount: number, flags: number): number {
  const result = cSplice(fromFd, 0, toFd, 0, byteCount, flags);
  return result < 0 ? failure() : result;
}

/** pipe2(2): writes the reading and the writing end as two ints. */
export function pipe2(address: number, flags: number): number {
  return cPipe2(address, flags) < 0 ? failure() : 0;
}

/** close(2): never repeated; on Linux the descriptor is gone even after EINTR. */
export function close(fd: number): number {
  return cClose(fd) < 0 ? failure() : 0;
}

/** fcntl(2) with an int as argument. */
export function fcntl(fd: number, command: number, argument: number): number {
  const result = cFcntl(fd, command, argument);
  return result < 0 ? failure() : result;
}

/** fcntl(2) with F_DUPFD_CLOEXEC: another descriptor of the same file or socket. */
export function duplicate(fd: number): number {
  return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/** eventfd(2). */
export function eventfd(initial: number, flags: number): number {
  const result = cEventfd(initial, flags);
  return result < 0 ? failure() : result;
}
