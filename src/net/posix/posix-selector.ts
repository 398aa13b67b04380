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
import { Patience } from "./patience.ts";

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

/** What a selector needs of epoll. */
type EventSource = Pick<Epoll, "wait" | "slotAt" | "generationAt" | "eventsAt">;

export interface PosixSelectorOptions {
  readonly alwaysSleeps?: boolean | undefined;
  readonly onLook?: (() => void) | undefined;
  readonly nowMs: () => number;
  /** Lets whoever else wants this processor have it first. */
  readonly yieldProcessor: () => void;
}

/** How long it looks for the next event before it sleeps. */
const LOOK_MS = 0.2;
/** To be woken takes about as long: what came later did not pay. */
const PAYS_MS = 0.1;
/** Who does not get the processor back for so long is in the way of others, and late by staying awake. */
const SHARED_MS = 0.5;
/** What takes longer to serve is no short request. */
const BRIEF_MS = 0.1;
const NO_SLOT = -1;

/**
 * epoll as a selector. It blocks; another thread ends a wait through a `WatchedFd`. While one connection
 * and its other side are all that is busy, it stays awake for a moment behind each short event, where that
 * pays: who waits for the answer to one request feels each time that it would have to be woken. Where more is
 * going on, sleep gathers events, which is cheaper.
 */
export class PosixSelector implements Selector {
  readonly blocks = true;
  readonly #epoll: EventSource;
  readonly #alwaysSleeps: boolean;
  readonly #onLook: () => void;
  readonly #nowMs: () => number;
  readonly #yieldProcessor: () => void;
  readonly #patienceWithEarlier = new Patience();
  readonly #patienceWithLater = new Patience();
  /** The slots of the last event and of the one before, where each came alone. */
  #lastSlot = NO_SLOT;
  #earlierSlot = NO_SLOT;
  #isLone = false;
  /** When such an event was told. */
  #toldMs = 0;
  /** How long the last look took. */
  #lookedMs = 0;

  constructor(epoll: EventSource, options: PosixSelectorOptions) {
    this.#epoll = epoll;
    this.#alwaysSleeps = options.alwaysSleeps ?? false;
    this.#onLook = options.onLook ?? (() => undefined);
    this.#nowMs = options.nowMs;
    this.#yieldProcessor = options.yieldProcessor;
  }

  wait(timeoutMs: number): number {
    const count =
      timeoutMs !== 0 && this.#stays()
        ? this.#lookAndSleep(timeoutMs)
        : this.#epoll.wait(timeoutMs);
    this.#note(count);
    return count;
  }

  #lookAndSleep(timeoutMs: number): number {
    const count = this.#look();
    if (count > 0) return count;
    const leftMs = Math.max(Math.ceil(timeoutMs - this.#lookedMs), 0);
    return this.#epoll.wait(timeoutMs < 0 ? timeoutMs : leftMs);
  }

  #stays(): boolean {
    if (!this.#isLone || this.#nowMs() - this.#toldMs > BRIEF_MS) return false;
    return this.#patience.isDue();
  }

  /** For what comes from the other side: one may be quick to answer where the other one takes its time. */
  get #patience(): Patience {
    return this.#lastSlot < this.#earlierSlot ? this.#patienceWithLater : this.#patienceWithEarlier;
  }

  #look(): number {
    let count = this.#epoll.wait(0);
    if (count > 0) return count;
    this.#onLook();
    const patience = this.#patience;
    const beganMs = this.#nowMs();
    let nowMs = beganMs;
    let isShared = false;
    do {
      const lookedMs = nowMs;
      // Others may have the processor meanwhile.
      this.#yieldProcessor();
      count = this.#epoll.wait(0);
      nowMs = this.#nowMs();
      isShared = nowMs - lookedMs > SHARED_MS;
    } while (count === 0 && !isShared && nowMs - beganMs < LOOK_MS);
    this.#lookedMs = nowMs - beganMs;
    if (isShared) patience.didHarm();
    else if (count > 0 && this.#lookedMs <= PAYS_MS) patience.paid();
    else patience.failed();
    return count;
  }

  #note(count: number): void {
    if (this.#alwaysSleeps) return;
    const slot = count === 1 ? this.#epoll.slotAt(0) : NO_SLOT;
    this.#isLone = slot !== NO_SLOT && (slot === this.#lastSlot || slot === this.#earlierSlot);
    this.#earlierSlot = this.#lastSlot;
    this.#lastSlot = slot;
    if (this.#isLone) this.#toldMs = this.#nowMs();
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
