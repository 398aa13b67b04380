import type { ChannelRole, SelectorEventLoop } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import type { DialTarget } from "../relay/dial-targets.ts";
import type { EndOwner, RelayEnd } from "../relay/relay-end.ts";

/** Servers close idle connections themselves, often after 5 seconds or more. */
const IDLE_MS = 4000;
/** How often idle ones are looked for: a timer for each would cost more than it is worth. */
const SWEEP_MS = 500;
const MAX_IDLE_PER_SERVER = 128;

/** Connections to servers that wait for the next request. */
export class ServerPool {
  readonly #loop: SelectorEventLoop;
  readonly #listener: () => string;
  /** Of each server, the one that was used last at the end. */
  readonly #idle = new Map<DialTarget, IdleConnection[]>();
  readonly #sweeper = new Timer(() => this.#sweep());
  #isClosed = false;

  /** @param listener gives the key of the listener that it is for. */
  constructor(loop: SelectorEventLoop, listener: () => string) {
    this.#loop = loop;
    this.#listener = listener;
  }

  get listener(): string {
    return this.#listener();
  }

  /** The one that was used last; undefined where there is none. */
  take(target: DialTarget): RelayEnd | undefined {
    return this.#idle.get(target)?.pop()?.end;
  }

  put(target: DialTarget, end: RelayEnd): void {
    const connections = this.#idle.get(target) ?? [];
    if (this.#isClosed || connections.length >= MAX_IDLE_PER_SERVER) {
      end.leave(this.#loop, false);
      return;
    }
    if (connections.length === 0) this.#idle.set(target, connections);
    connections.push(new IdleConnection(this, target, end, this.#loop.nowMs));
    if (!this.#sweeper.isArmed) this.#loop.arm(this.#sweeper, SWEEP_MS);
  }

  /** For the connections: whatever a server says between two requests ends it. */
  discard(connection: IdleConnection): void {
    const connections = this.#idle.get(connection.target);
    const index = connections?.indexOf(connection) ?? -1;
    if (index >= 0) connections?.splice(index, 1);
    connection.end.leave(this.#loop, false);
  }

  close(): void {
    this.#isClosed = true;
    this.#loop.disarm(this.#sweeper);
    for (const connection of [...this.#idle.values()].flat()) this.discard(connection);
    this.#idle.clear();
  }

  #sweep(): void {
    const oldestMs = this.#loop.nowMs - IDLE_MS;
    for (const [target, connections] of this.#idle) {
      const old = connections.filter(({ sinceMs }) => sinceMs <= oldestMs);
      for (const connection of old) this.discard(connection);
      if (connections.length === 0) this.#idle.delete(target);
    }
    if (this.#idle.size > 0) this.#loop.arm(this.#sweeper, SWEEP_MS);
  }
}

class IdleConnection implements EndOwner {
  readonly target: DialTarget;
  readonly end: RelayEnd;
  readonly sinceMs: number;
  readonly #pool: ServerPool;

  constructor(pool: ServerPool, target: DialTarget, end: RelayEnd, sinceMs: number) {
    this.#pool = pool;
    this.target = target;
    this.end = end;
    this.sinceMs = sinceMs;
    end.owner = this;
  }

  endReady(): void {
    if (this.end.fd.readable) this.#pool.discard(this);
  }

  endDismissed(): void {
    this.#pool.discard(this);
  }

  roleOf(): ChannelRole {
    return { listener: this.#pool.listener, server: this.target.key };
  }
}
