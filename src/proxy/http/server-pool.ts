import type { ChannelRole, SelectorEventLoop } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import type { DialTarget } from "../relay/dial-targets.ts";
import type { EndOwner, RelayEnd } from "../relay/relay-end.ts";

/** Servers close idle connections themselves, often after 5 seconds or more. */
const IDLE_MS = 4000;
const MAX_IDLE_PER_SERVER = 128;

/** Connections to servers that wait for the next request. */
export class ServerPool {
  readonly #loop: SelectorEventLoop;
  readonly #listener: () => string;
  readonly #idle = new Map<DialTarget, IdleConnection[]>();
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
    const connection = this.#idle.get(target)?.at(-1);
    if (connection === undefined) return undefined;
    this.#remove(connection);
    return connection.end;
  }

  put(target: DialTarget, end: RelayEnd): void {
    const connections = this.#idle.get(target) ?? [];
    if (this.#isClosed || connections.length >= MAX_IDLE_PER_SERVER) {
      end.leave(this.#loop, false);
      return;
    }
    const connection: IdleConnection = new IdleConnection(this, target, end, () => {
      this.#remove(connection);
      end.leave(this.#loop, false);
    });
    connections.push(connection);
    this.#idle.set(target, connections);
    this.#loop.arm(connection.timer, IDLE_MS);
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#idle.values()].flat()) connection.endDismissed();
  }

  #remove(connection: IdleConnection): void {
    this.#loop.disarm(connection.timer);
    const connections = this.#idle.get(connection.target);
    const index = connections?.indexOf(connection) ?? -1;
    if (index >= 0) connections?.splice(index, 1);
    if (connections?.length === 0) this.#idle.delete(connection.target);
  }
}

/** Whatever a server says between two requests ends the connection. */
class IdleConnection implements EndOwner {
  readonly target: DialTarget;
  readonly end: RelayEnd;
  readonly timer: Timer;
  readonly #pool: ServerPool;
  readonly #discard: () => void;

  constructor(pool: ServerPool, target: DialTarget, end: RelayEnd, discard: () => void) {
    this.#pool = pool;
    this.target = target;
    this.end = end;
    this.#discard = discard;
    this.timer = new Timer(discard);
    end.owner = this;
  }

  endReady(): void {
    if (this.end.fd.readable) this.#discard();
  }

  endDismissed(): void {
    this.#discard();
  }

  roleOf(): ChannelRole {
    return { listener: this.#pool.listener, server: this.target.key };
  }
}
