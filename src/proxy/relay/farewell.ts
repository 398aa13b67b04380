import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO } from "../../platform/errno.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import type { EndOwner, RelayEnd } from "./relay-end.ts";
import type { OpenSession, SessionHost } from "./session-host.ts";

export interface FarewellParts {
  readonly client: RelayEnd;
  readonly say: Buffer;
  /** Of the listener; told when it is over. */
  readonly row: CounterRow;
  readonly listener: string;
}

/** However slowly a client reads, it has no longer. */
const PATIENCE_MS = 30_000;
/** A client that has all of it may take so long to close. */
const LINGER_MS = 2000;

/** Says something to a client, all of it, and closes the connection when it has that. */
export class Farewell implements EndOwner, OpenSession {
  readonly #host: SessionHost;
  readonly #parts: FarewellParts;
  readonly #timer = new Timer(() => this.#isTime());
  #said = 0;
  #state: "waiting" | "saying" | "lingering" | "closed" = "waiting";

  constructor(host: SessionHost, parts: FarewellParts) {
    this.#host = host;
    this.#parts = parts;
    parts.client.owner = this;
    host.sessions.add(this);
  }

  start(afterMs: number): void {
    if (afterMs === 0) this.#begin();
    else this.#host.net.loop.arm(this.#timer, afterMs);
  }

  endReady(): void {
    if (this.#state === "saying") this.#say();
    if (this.#state !== "closed") this.#skip();
  }

  endDismissed(): void {
    this.abort();
  }

  roleOf(): ChannelRole {
    return { listener: this.#parts.listener, session: {} };
  }

  drain(): void {
    if (this.#state === "waiting") this.#begin();
  }

  abort(): void {
    this.#close(true);
  }

  #isTime(): void {
    if (this.#state === "waiting") this.#begin();
    else this.#close(this.#state === "saying");
  }

  #begin(): void {
    this.#state = "saying";
    this.#host.net.loop.arm(this.#timer, PATIENCE_MS);
    this.#say();
  }

  #say(): void {
    const { net } = this.#host;
    const { client, say } = this.#parts;
    while (this.#said < say.length) {
      // After a write that found no room the next one begins with the same bytes, as TLS wants it.
      const part = say.subarray(this.#said, this.#said + net.scratch.bytes.length);
      net.scratch.bytes.set(part);
      const count = client.fd.write(net.scratch, 0, part.length);
      if (count === -ERRNO.EAGAIN) return;
      if (count < 0) {
        this.abort();
        return;
      }
      this.#said += count;
      client.sent += count;
    }
    this.#state = "lingering";
    client.fd.shutdownWrite();
    net.loop.arm(this.#timer, LINGER_MS);
    this.#skip();
  }

  /** What it still says is of no interest, but would reset the connection before it has read ours. */
  #skip(): void {
    const { scratch } = this.#host.net;
    const { fd } = this.#parts.client;
    while (this.#state !== "closed" && fd.readable) {
      const count = fd.read(scratch, 0, scratch.bytes.length);
      if (count > 0 || count === -ERRNO.EAGAIN) continue;
      if (count < 0) this.abort();
      else if (this.#state === "lingering") this.#close(false);
      else return;
    }
  }

  #close(withReset: boolean): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    const { net, sessions } = this.#host;
    const { client, row } = this.#parts;
    net.loop.disarm(this.#timer);
    client.leave(net.loop, withReset);
    sessions.delete(this);
    row.moved(client.received, client.sent);
    row.closed();
  }
}
