import type { NetEventLoop } from "../../net/net-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import type { DialTarget } from "../relay/dial-targets.ts";
import type { RelayEnd } from "../relay/relay-end.ts";
import { ReadyLink } from "./ready-link.ts";
import { TunnelLink } from "./tunnel-link.ts";
import type { TunnelServer } from "./tunnel-server.ts";

export interface PoolParts {
  readonly target: DialTarget;
  readonly server: TunnelServer;
  readonly size: number;
  readonly timeoutMs: number;
  readonly bufferBytes: number;
  readonly listener: string;
}

/** Gateways close what is silent for a minute; so often something is said. */
const KEEP_ALIVE_MS = 20_000;
/** A pool that nobody needs is given up. */
const UNUSED_MS = 600_000;

/** Connections to one server that are kept ready, so that a client need not wait for its handshakes. */
export class TunnelPool {
  readonly #net: NetEventLoop;
  readonly #parts: PoolParts;
  readonly #ready: ReadyLink[] = [];
  readonly #links = new Set<TunnelLink>();
  readonly #timer = new Timer(() => this.#tick());
  #usedMs: number;
  #isClosed = false;

  constructor(net: NetEventLoop, parts: PoolParts) {
    this.#net = net;
    this.#parts = parts;
    this.#usedMs = net.loop.nowMs;
    net.loop.arm(this.#timer, KEEP_ALIVE_MS);
  }

  /** To which its connections are counted. */
  get target(): DialTarget {
    return this.#parts.target;
  }

  /**
   * One that is ready, which is the caller's from now on and counted for the target already; undefined
   * where there is none. Others are made for those who come next.
   */
  take(): RelayEnd | undefined {
    this.#usedMs = this.#net.loop.nowMs;
    const link = this.#ready.pop();
    this.#net.loop.nextTick(() => this.#fill());
    return link?.end;
  }

  close(): void {
    this.#isClosed = true;
    this.#net.loop.disarm(this.#timer);
    const { target } = this.#parts;
    for (const link of this.#links) {
      link.cancel();
      target.closed();
    }
    for (const link of this.#ready) {
      link.close();
      target.closed();
    }
    this.#links.clear();
    this.#ready.length = 0;
  }

  #fill(): void {
    const { target, server, size, timeoutMs, bufferBytes, listener } = this.#parts;
    while (!this.#isClosed && this.#ready.length + this.#links.size < size) {
      target.opened();
      const link: TunnelLink = new TunnelLink(this.#net, {
        target,
        server,
        timeoutMs,
        bufferBytes,
        listener,
        linked: (end) => {
          this.#links.delete(link);
          this.#keep(end);
        },
        // Those who call the server tell what is wrong with it; the next try is at the next tick.
        failed: () => {
          this.#links.delete(link);
          target.closed();
        },
      });
      this.#links.add(link);
      link.start();
      // It has failed at once, and others would.
      if (!this.#links.has(link)) return;
    }
  }

  #keep(end: RelayEnd): void {
    const { target, listener } = this.#parts;
    const role = { listener, server: target.key };
    const link = new ReadyLink(this.#net, end, role, (gone) => {
      const at = this.#ready.indexOf(gone);
      if (at < 0) return;
      this.#ready.splice(at, 1);
      target.closed();
    });
    this.#ready.push(link);
    // What the server has said since its answer is known already, and is not told again.
    link.endReady();
  }

  #tick(): void {
    if (this.#net.loop.nowMs - this.#usedMs > UNUSED_MS) {
      const { target } = this.#parts;
      for (const link of this.#ready.splice(0)) {
        link.close();
        target.closed();
      }
    } else {
      for (const link of [...this.#ready]) link.keepAlive();
      this.#fill();
    }
    this.#net.loop.arm(this.#timer, KEEP_ALIVE_MS);
  }
}
