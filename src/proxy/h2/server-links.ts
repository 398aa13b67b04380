import type { NetEventLoop } from "../../net/net-event-loop.ts";
import { ERRNO } from "../../platform/errno.ts";
import type { DialTarget } from "../relay/dial-targets.ts";
import type { H2Memory } from "./h2-memory.ts";
import {
  type LinkEnd,
  type LinkHandler,
  type LinkSettings,
  type LinkWaiter,
  ServerLink,
} from "./server-link.ts";

/** How long a server is taken for one that speaks HTTP/1.1 only, before it is asked anew. */
const HTTP1_MS = 60_000;
/** So many wait for one connection; more have another one made. */
const MAX_WAITERS = 100;

export interface ServerLinksParts {
  readonly memory: H2Memory;
  /** Gives the key of the listener that they are for. */
  readonly listener: () => string;
  /** What servers are told first; nothing where it is not given. */
  readonly greeting?: Buffer;
  /** What one finds out the others need not. */
  readonly http1Servers: Http1Servers;
}

/** Until when servers are taken for such that speak HTTP/1.1 only. */
export type Http1Servers = WeakMap<DialTarget, number>;

const NO_BYTES = Buffer.alloc(0);

/**
 * The HTTP/2 connections to servers, of one listener in one loop. A server is greeted in HTTP/2; one that
 * answers otherwise is known as one of HTTP/1.1 for a while.
 */
export class ServerLinks implements LinkHandler {
  readonly greeting: Buffer;
  readonly #net: NetEventLoop;
  readonly #memory: H2Memory;
  readonly #listener: () => string;
  readonly #links = new Map<DialTarget, Set<ServerLink>>();
  readonly #http1Until: Http1Servers;
  #isClosed = false;

  constructor(
    net: NetEventLoop,
    { memory, listener, greeting = NO_BYTES, http1Servers }: ServerLinksParts,
  ) {
    this.#net = net;
    this.#memory = memory;
    this.#listener = listener;
    this.greeting = greeting;
    this.#http1Until = http1Servers;
  }

  get listener(): string {
    return this.#listener();
  }

  /** The waiter may be told before it returns. */
  reach(target: DialTarget, waiter: LinkWaiter, settings: LinkSettings): void {
    if ((this.#http1Until.get(target) ?? 0) > this.#net.loop.nowMs) {
      waiter.reachedHttp1();
      return;
    }
    const link = this.#bestOf(target);
    if (link === undefined) this.#connect(target, waiter, settings);
    else if (link.hasRoom) waiter.reached(link);
    else link.waiters.add(waiter);
  }

  /** It does not want it any more. */
  cancel(target: DialTarget, waiter: LinkWaiter): void {
    for (const link of this.#links.get(target) ?? []) link.waiters.delete(waiter);
  }

  /** An answer in HTTP/1.1 was none: perhaps it speaks HTTP/2 by now. */
  forgetHttp1(target: DialTarget): void {
    this.#http1Until.delete(target);
  }

  /** What is under way goes on; then all are closed. */
  close(): void {
    this.#isClosed = true;
    for (const links of [...this.#links.values()]) {
      for (const link of [...links]) if (link.waiters.size === 0) link.leave();
    }
  }

  linkReady(link: ServerLink): void {
    if (link.waiters.size > 0) this.#serve(link);
    if (this.#isClosed) link.leave();
  }

  linkEnded(link: ServerLink, end: LinkEnd): void {
    const { target } = link;
    const links = this.#links.get(target);
    links?.delete(link);
    if (links?.size === 0) this.#links.delete(target);
    if (end.kind === "not-http2") {
      if (end.hasSpoken) this.#http1Until.set(target, this.#net.loop.nowMs + HTTP1_MS);
      this.#turnAway(link, (waiter) => waiter.reachedHttp1());
      return;
    }
    const result = end.kind === "unreachable" ? end.result : -ERRNO.ECONNRESET;
    this.#turnAway(link, (waiter) => waiter.unreachable(result));
  }

  /** One with room, else one that may have some soon. */
  #bestOf(target: DialTarget): ServerLink | undefined {
    let opening: ServerLink | undefined;
    for (const link of this.#links.get(target) ?? NO_LINKS) {
      if (link.hasRoom) return link;
      if (link.isOpening && link.waiters.size < MAX_WAITERS) opening = link;
    }
    return opening;
  }

  #serve(link: ServerLink): void {
    const { target, settings } = link;
    let served = 0;
    for (const waiter of [...link.waiters]) {
      if (!link.hasRoom) break;
      link.waiters.delete(waiter);
      served += 1;
      waiter.reached(link);
    }
    // It takes fewer than wait for it; or none at all, and then another one would not either.
    this.#turnAway(link, (waiter) => {
      if (served > 0) this.reach(target, waiter, settings);
      else waiter.unreachable(-ERRNO.EAGAIN);
    });
  }

  #turnAway({ waiters }: ServerLink, tell: (waiter: LinkWaiter) => void): void {
    const turnedAway = [...waiters];
    waiters.clear();
    for (const waiter of turnedAway) tell(waiter);
  }

  #connect(target: DialTarget, waiter: LinkWaiter, settings: LinkSettings): void {
    const link = new ServerLink(this.#net, {
      settings,
      target,
      memory: this.#memory,
      handler: this,
    });
    link.waiters.add(waiter);
    const links = this.#links.get(target) ?? new Set();
    this.#links.set(target, links.add(link));
    link.start();
  }
}

const NO_LINKS: ReadonlySet<ServerLink> = new Set();
