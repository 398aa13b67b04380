import {
  EPOLLERR,
  EPOLLET,
  EPOLLEXCLUSIVE,
  EPOLLHUP,
  EPOLLIN,
  EPOLLOUT,
  EPOLLPRI,
  EPOLLRDHUP,
} from "../../platform/linux/abi.ts";
import type { Epoll } from "../../platform/linux/epoll.ts";
import { ENDING, FAILED, HANGUP, READABLE, type Selector, WRITABLE } from "../fd.ts";

/** tcp(7): a read stops before urgent bytes, so a short one does not mean that all was read. */
const UNSURE = EPOLLPRI | EPOLLHUP | EPOLLERR;
const ENDED = EPOLLRDHUP | UNSURE;

/** Both directions from the start, edge-triggered: one system call for the life of a connection. */
export const STREAM_EVENTS: number = EPOLLET + (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI);
/** Not that there is room: each datagram that leaves would be told, which is half of all events. */
export const DATAGRAM_EVENTS: number = EPOLLET + EPOLLIN;
/** Level-triggered; where several loops borrow one socket, one of them is woken. */
export const SERVER_EVENTS: number = EPOLLIN | EPOLLEXCLUSIVE;
/** Each write to an eventfd is an edge: nothing needs to be read from it. */
export const WAKE_EVENTS: number = EPOLLET + EPOLLIN;

/** epoll as a selector. It blocks; another thread ends a wait through a `WatchedFd`. */
export class PosixSelector implements Selector {
  readonly blocks = true;
  readonly #epoll: Epoll;

  constructor(epoll: Epoll) {
    this.#epoll = epoll;
  }

  wait(timeoutMs: number): number {
    return this.#epoll.wait(timeoutMs);
  }

  slotAt(index: number): number {
    return this.#epoll.slotAt(index);
  }

  generationAt(index: number): number {
    return this.#epoll.generationAt(index);
  }

  readyAt(index: number): number {
    const events = this.#epoll.eventsAt(index);
    let ready = 0;
    if ((events & (EPOLLIN | ENDED)) !== 0) ready |= READABLE;
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) !== 0) ready |= WRITABLE;
    if ((events & ENDED) !== 0) {
      ready |= HANGUP;
      if ((events & UNSURE) === 0) ready |= ENDING;
    }
    if ((events & EPOLLERR) !== 0) ready |= FAILED;
    return ready;
  }

  onPending(): void {
    // It blocks: nobody needs to be called.
  }
}
