import type { StreamFd } from "../../net/fd.ts";
import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO } from "../../platform/errno.ts";
import { peekRequest } from "../../wire/http1/peek-request.ts";
import { PREFACE } from "../../wire/http2/protocol.ts";
import type { ProxiedConnection } from "../../wire/proxy-protocol/proxy-header.ts";
import type { GreetedClient } from "../http/greeted-client.ts";
import type { HttpService } from "../http/http-service.ts";
import { HANDSHAKE_PATIENCE_MS, LEAVE_PATIENCE_MS, type Opening } from "../openings/opening.ts";
import { type EndOwner, RelayEnd } from "../relay/relay-end.ts";
import type { OpenSession, SessionHost } from "../relay/session-host.ts";

export interface FirstBytesParts {
  readonly service: HttpService;
  readonly fd: StreamFd;
  readonly peer: string;
  /** What the peer has to say about itself first. */
  readonly opening: Opening | undefined;
  /** Who goes on. */
  readonly http2: (client: GreetedClient) => void;
  readonly http1: (client: GreetedClient) => void;
}

const NO_BYTES = Buffer.alloc(0);

/** Reads what a client says first, until it is known which version of HTTP it speaks. */
export class FirstBytes implements EndOwner, OpenSession {
  readonly #host: SessionHost;
  readonly #parts: FirstBytesParts;
  readonly #end: RelayEnd;
  readonly #timer = new Timer(() => this.#close());
  #opening: Opening | undefined;
  #peer: string;
  #proxied: ProxiedConnection | undefined;
  #bytes: Buffer = NO_BYTES;
  #isOver = false;

  constructor(host: SessionHost, parts: FirstBytesParts) {
    this.#host = host;
    this.#parts = parts;
    this.#opening = parts.opening;
    this.#peer = parts.peer;
    this.#end = new RelayEnd(parts.fd, parts.service.inBufferBytes, this);
    parts.service.row.opened();
    host.sessions.add(this);
  }

  start(): void {
    const { loop } = this.#host.net;
    this.#end.enter(loop);
    loop.arm(this.#timer, Math.min(this.#parts.service.idleTimeoutMs, HANDSHAKE_PATIENCE_MS));
  }

  endReady(): void {
    const { scratch } = this.#host.net;
    while (!this.#isOver && this.#end.fd.readable) {
      const count = this.#end.fd.read(scratch, 0, this.#end.bufferBytes);
      if (count === -ERRNO.EAGAIN) return;
      if (count <= 0) {
        this.#close();
        return;
      }
      this.#end.received += count;
      this.#take(Buffer.from(scratch.bytes.subarray(0, count)));
    }
  }

  endDismissed(): void {
    this.abort();
  }

  roleOf(): ChannelRole {
    return { listener: this.#parts.service.key, session: {} };
  }

  /** Its first bytes may be on their way. */
  drain(): void {
    if (this.#end.received === 0) this.#host.net.loop.arm(this.#timer, LEAVE_PATIENCE_MS);
  }

  abort(): void {
    this.#close(true);
  }

  #take(chunk: Buffer): void {
    const bytes = this.#opening === undefined ? chunk : this.#feed(this.#opening, chunk);
    if (bytes === undefined) return;
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
    const length = Math.min(this.#bytes.length, PREFACE.length);
    const isPreface = this.#bytes.compare(PREFACE, 0, length, 0, length) === 0;
    if (!isPreface) this.#tryHttp1();
    else if (length === PREFACE.length) this.#handOver(this.#parts.http2);
  }

  /** What is neither is not answered: nobody knows in which words. */
  #tryHttp1(): void {
    const { kind } = peekRequest(this.#bytes, 0, this.#bytes.length, this.#bytes.length + 1);
    if (kind !== "not-http") {
      this.#handOver(this.#parts.http1);
      return;
    }
    this.#parts.service.row.failed();
    this.#close();
  }

  /** What follows the opening; undefined where it goes on. */
  #feed(opening: Opening, chunk: Buffer): Buffer | undefined {
    const step = opening.feed(chunk);
    if (step.kind === "refused") {
      this.#parts.service.row.failed();
      this.abort();
    }
    if (step.kind !== "done") return undefined;
    this.#opening = undefined;
    this.#proxied = step.introduction.proxied;
    this.#peer = this.#proxied?.source.ip ?? this.#peer;
    return step.rest;
  }

  #handOver(to: (client: GreetedClient) => void): void {
    this.#leave();
    const { service } = this.#parts;
    const [end, peer, bytes] = [this.#end, this.#peer, this.#bytes];
    to({ service, end, peer, proxied: this.#proxied, bytes });
  }

  #close(withReset = false): void {
    if (this.#isOver) return;
    this.#leave();
    this.#end.leave(this.#host.net.loop, withReset);
    this.#parts.service.row.moved(this.#end.received, 0);
    this.#parts.service.row.closed();
  }

  #leave(): void {
    this.#isOver = true;
    this.#host.net.loop.disarm(this.#timer);
    this.#host.sessions.delete(this);
  }
}
