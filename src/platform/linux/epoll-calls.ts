/** epoll(7). All return a negative errno where they fail; none throws. */
import { bindCall, failure } from "./binding.ts";

const cCreate = bindCall<[number]>("int epoll_create1(int)");
const cCtl = bindCall<[number, number, number, number]>("int epoll_ctl(int, int, int, uintptr_t)");
const cWait = bindCall<[number, number, number, number]>(
  "int epoll_wait(int, uintptr_t, int, int)",
);

/** epoll_create1(2): a descriptor. */
export function epollCreate(flags: number): number {
  const result = cCreate(flags);
  return result < 0 ? failure() : result;
}

/** epoll_ctl(2); `event` is the address of an epoll_event, 0 for removal. */
export function epollCtl(epollFd: number, operation: number, fd: number, event: number): number {
  return cCtl(epollFd, operation, fd, event) < 0 ? failure() : 0;
}

/** epoll_wait(2): how many events. Blocks this thread; -1 ms is without end. */
export function epollWait(
  epollFd: number,
  events: number,
  maxEvents: number,
  timeoutMs: number,
): number {
  const result = cWait(epollFd, events, maxEvents, timeoutMs);
  return result < 0 ? failure() : result;
}
