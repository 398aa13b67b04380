import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import type { FieldList } from "../../wire/http2/hpack/field-list.ts";
import { SERVER_CONFIG } from "../../wire/http2/http2-config.ts";
import type { Http2Stream } from "../../wire/http2/http2-stream.ts";
import { type Http2RequestHead, readRequestHead } from "../../wire/http2/request-head.ts";
import { createForwarding, type Http2Forwarding, valuesOf } from "../../wire/http2/write-head.ts";
import type { RelayEnd } from "../relay/relay-end.ts";
import type { OpenSession, SessionHost } from "../relay/session-host.ts";
import { answerStream } from "./answer-stream.ts";
import { FrameWire, type WireHandler } from "./frame-wire.ts";
import { H2Exchange } from "./h2-exchange.ts";
import type { H2Service } from "./h2-service.ts";

export interface H2SessionParts {
  readonly service: H2Service;
  readonly client: RelayEnd;
  /** Canonical address of the client. */
  readonly peer: string;
  readonly scheme: "http" | "https";
  /** Is told when it has closed. */
  readonly onClosed: (session: H2Session) => void;
}

const FORBIDDEN = 403;
const NOT_ALLOWED_METHOD = 405;
const FIELDS_TOO_LARGE = 431;
/** How long a client has to hear that it shall open no more streams. */
const LEAVE_MS = 1000;

/** A connection of an HTTP/2 client. Its requests go to servers one by one, each by itself. */
export class H2Session implements OpenSession, WireHandler {
  readonly #host: SessionHost;
  readonly #parts: H2SessionParts;
  readonly #wire: FrameWire;
  readonly #forwarding: Http2Forwarding;
  readonly #exchanges = new Set<H2Exchange>();
  readonly #timer = new Timer(() => this.#checkTime());
  readonly #leaveTimer = new Timer(() => this.#leave());
  #state: "open" | "announced" | "leaving" | "closed" = "open";
  #lastMs: number;
  #countedIn = 0;
  #countedOut = 0;

  /** The listener has counted the connection already; it is counted out here. */
  constructor(host: SessionHost, parts: H2SessionParts) {
    this.#host = host;
    this.#parts = parts;
    const { service, client, peer, scheme } = parts;
    this.#forwarding = createForwarding(peer, scheme, service.http.trust.trusts(peer));
    this.#wire = new FrameWire(host.net, {
      role: "server",
      config: SERVER_CONFIG,
      end: client,
      memory: service.memory,
      handler: this,
    });
    this.#lastMs = host.net.loop.nowMs;
    host.sessions.add(this);
  }

  /** @param already what the client has said. */
  start(already: Buffer): void {
    this.#host.net.loop.arm(this.#timer, this.#parts.service.http.idleTimeoutMs);
    this.#wire.start(already);
    if (this.#host.isDraining) this.drain();
  }

  /** The client hears that it shall go elsewhere; what it has asked for until then is answered. */
  drain(): void {
    if (this.#state !== "open") return;
    this.#state = "announced";
    const { connection } = this.#wire;
    connection.announceLeave();
    // What the client had sent before it heard of it comes before the answer to this.
    connection.ping();
    this.#host.net.loop.arm(this.#leaveTimer, LEAVE_MS);
  }

  abort(): void {
    this.#wire.close(true);
    this.#closed();
  }

  streamOpened(stream: Http2Stream, fields: FieldList, isEnd: boolean): void {
    const { http, memory } = this.#parts.service;
    const refuse = (status: number): void => {
      http.row.failed();
      answerStream(stream, status, memory.block);
    };
    if (fields.isTooLarge) {
      refuse(FIELDS_TOO_LARGE);
      return;
    }
    const head = readRequestHead(fields);
    if (head === undefined || (isEnd && head.contentLength > 0)) {
      http.row.failed();
      stream.reject();
    } else if (head.method === "CONNECT") {
      refuse(NOT_ALLOWED_METHOD);
    } else {
      const client = this.#clientOf(head);
      if (http.allows(client)) this.#begin(stream, head, client, isEnd);
      else refuse(FORBIDDEN);
    }
  }

  streamClosed(): void {
    this.#lastMs = this.#host.net.loop.nowMs;
    this.#finishWhenUnused();
  }

  settingsArrived(): void {}

  goAwayArrived(): void {
    this.#leave();
  }

  pingAnswered(): void {
    if (this.#state === "announced") this.#leave();
  }

  wireMoved(): void {
    const { received, sent } = this.#parts.client;
    this.#parts.service.http.row.moved(received - this.#countedIn, sent - this.#countedOut);
    this.#countedIn = received;
    this.#countedOut = sent;
  }

  wireClosed(reason: string): void {
    this.#host.log.debug(
      { listener: this.#parts.service.http.key, reason },
      "an HTTP/2 connection ended",
    );
    this.#closed();
  }

  /** Its requests may go to many servers. */
  wireRole(): ChannelRole {
    return { listener: this.#parts.service.http.key, session: {} };
  }

  #clientOf({ fields }: Http2RequestHead): string {
    const { peer, service } = this.#parts;
    return service.http.trust.clientOf(peer, () => valuesOf(fields, "x-forwarded-for"));
  }

  #begin(stream: Http2Stream, head: Http2RequestHead, client: string, isEnd: boolean): void {
    const { service } = this.#parts;
    stream.announcedBytes = head.contentLength;
    const { authority, path } = head;
    const exchange = new H2Exchange({
      net: this.#host.net,
      service,
      client: stream,
      head,
      forwarding: this.#forwarding,
      isEnd,
      targets: service.http.targetsFor(client, { host: authority, path }),
      onOver: (over) => this.#exchanges.delete(over),
    });
    this.#exchanges.add(exchange);
    exchange.start();
  }

  #checkTime(): void {
    const { loop } = this.#host.net;
    const { idleTimeoutMs } = this.#parts.service.http;
    let oldestMs = loop.nowMs;
    for (const exchange of [...this.#exchanges]) {
      if (exchange.lastMs + idleTimeoutMs <= loop.nowMs) exchange.timeOut();
      else oldestMs = Math.min(oldestMs, exchange.lastMs);
    }
    if (this.#exchanges.size === 0) {
      oldestMs = this.#lastMs;
      if (oldestMs + idleTimeoutMs <= loop.nowMs) this.#leave();
    }
    if (this.#state === "closed") return;
    loop.arm(this.#timer, Math.max(1, oldestMs + idleTimeoutMs - loop.nowMs));
  }

  #leave(): void {
    if (this.#state === "leaving" || this.#state === "closed") return;
    this.#state = "leaving";
    this.#host.net.loop.disarm(this.#leaveTimer);
    this.#wire.connection.leave();
    this.#finishWhenUnused();
  }

  #finishWhenUnused(): void {
    if (this.#state === "leaving" && this.#wire.connection.streamCount === 0) this.#wire.finish();
  }

  #closed(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    const { net, sessions } = this.#host;
    const { service, onClosed } = this.#parts;
    this.wireMoved();
    net.loop.disarm(this.#timer);
    net.loop.disarm(this.#leaveTimer);
    sessions.delete(this);
    service.http.row.closed();
    onClosed(this);
  }
}
