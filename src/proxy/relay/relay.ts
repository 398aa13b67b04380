import { READABLE, WRITABLE } from "../../net/fd.ts";
import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import type { DialTarget } from "./dial-targets.ts";
import { dropKept, moveBytes, WANTS_TURN } from "./move-bytes.ts";
import type { EndOwner, RelayEnd } from "./relay-end.ts";
import type { OpenSession, SessionHost } from "./session-host.ts";

/** What a relay needs to know of its listener. */
export interface RelayService {
  readonly key: string;
  readonly idleTimeoutMs: number;
}

export interface RelayParts {
  readonly client: RelayEnd;
  readonly server: RelayEnd;
  /** Where the server's end leads to; told when it is over. */
  readonly target: DialTarget;
  /** Of the listener; told when it is over. */
  readonly row: CounterRow;
  readonly service: RelayService;
  /** How much of what came from the client and from the server is in the counters already. */
  readonly countedIn: number;
  readonly countedOut: number;
}

/**
 * Two ends whose bytes pass from one to the other, both ways, until both have ended. FIN is passed as
 * FIN, after all that came before it; where one end fails, or nothing moves for too long, both are reset.
 */
export class Relay implements EndOwner, OpenSession {
  readonly #host: SessionHost;
  readonly #parts: RelayParts;
  readonly #idle: Timer = new Timer(() => this.#checkIdle());
  #resume: (() => void) | undefined;
  #isOpen = true;
  #lastMs: number;
  #countedIn: number;
  #countedOut: number;

  constructor(host: SessionHost, parts: RelayParts) {
    this.#host = host;
    this.#parts = parts;
    const { client, server, countedIn, countedOut } = parts;
    this.#countedIn = countedIn;
    this.#countedOut = countedOut;
    client.owner = this;
    server.owner = this;
    const { loop } = host.net;
    this.#lastMs = loop.nowMs;
    loop.arm(this.#idle, parts.service.idleTimeoutMs);
    host.sessions.add(this);
  }

  /** Moves what came already. */
  start(): void {
    this.#moveBoth();
  }

  endReady(end: RelayEnd, ready: number): void {
    this.#lastMs = this.#host.net.loop.nowMs;
    const { client, server } = this.#parts;
    const other = end === client ? server : client;
    if ((ready & READABLE) !== 0) this.#move(end, other);
    if ((ready & WRITABLE) !== 0 && this.#isOpen && other.hasWaiting) this.#move(other, end);
    this.#count();
  }

  endDismissed(): void {
    this.abort();
  }

  roleOf(end: RelayEnd): ChannelRole {
    const { client, server, target, service } = this.#parts;
    const { key: listener } = service;
    if (end !== client) return { listener, server: target.key };
    const toServer = server.endsTo(target.address);
    return { listener, session: { server: target.key, toServer } };
  }

  /** What is under way is one conversation: it goes on to its end. */
  drain(): void {}

  abort(): void {
    this.#close(true);
  }

  #moveBoth(): void {
    const { client, server } = this.#parts;
    if (client.hasWaiting) this.#move(client, server);
    if (this.#isOpen && server.hasWaiting) this.#move(server, client);
    this.#count();
  }

  #move(from: RelayEnd, to: RelayEnd): void {
    const result = moveBytes(from, to, this.#host.net);
    if (result < 0) {
      // What the other one had said before it failed is still passed on.
      moveBytes(to, from, this.#host.net);
      this.abort();
    } else if (from.isEndPassed && to.isEndPassed) {
      this.#close(false);
    } else if (result === WANTS_TURN) {
      this.#resume ??= () => {
        if (this.#isOpen) this.#moveBoth();
      };
      this.#host.net.loop.nextTick(this.#resume);
    }
  }

  #count(): void {
    const { client, server, target, row } = this.#parts;
    const bytesIn = client.received - this.#countedIn;
    const bytesOut = server.received - this.#countedOut;
    if (bytesIn === 0 && bytesOut === 0) return;
    this.#countedIn = client.received;
    this.#countedOut = server.received;
    row.moved(bytesIn, bytesOut);
    target.moved(bytesIn, bytesOut);
  }

  #checkIdle(): void {
    const { loop } = this.#host.net;
    const leftMs = this.#lastMs + this.#parts.service.idleTimeoutMs - loop.nowMs;
    if (leftMs > 0) loop.arm(this.#idle, leftMs);
    else this.abort();
  }

  #close(withReset: boolean): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#count();
    const { net, sessions } = this.#host;
    const { client, server, target, row } = this.#parts;
    net.loop.disarm(this.#idle);
    dropKept(client, net.provider.pipes);
    dropKept(server, net.provider.pipes);
    client.leave(net.loop, withReset);
    server.leave(net.loop, withReset);
    sessions.delete(this);
    row.closed();
    target.closed();
  }
}
