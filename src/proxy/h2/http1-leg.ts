import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { Region } from "../../net/region.ts";
import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { ERRNO } from "../../platform/errno.ts";
import { ResponseParser } from "../../wire/http1/response-parser.ts";
import type { HeaderField } from "../../wire/http2/hpack/header-field.ts";
import { readHttp1Response, renderHttp1Request } from "../../wire/http2/http1-bridge.ts";
import { OutputBuffer } from "../../wire/http2/output-buffer.ts";
import { CODE } from "../../wire/http2/protocol.ts";
import { isInterim } from "../../wire/http2/response-head.ts";
import { HttpInput } from "../http/http-input.ts";
import type { ServerPool } from "../http/server-pool.ts";
import { Dial, type DialHandler } from "../relay/dial.ts";
import { type DialTarget, ListTargets } from "../relay/dial-targets.ts";
import type { EndOwner, RelayEnd } from "../relay/relay-end.ts";
import { ChunkedRequest } from "./chunked-request.ts";
import type { LegRequest } from "./h2-leg.ts";
import type { H2Memory } from "./h2-memory.ts";
import { Http1Body } from "./http1-body.ts";
import type { LegFailure, LegOwner, ServerLeg } from "./server-leg.ts";
import type { LinkSettings } from "./server-link.ts";
import { renderTrailers } from "./trailer-fields.ts";
import { UncountedTarget } from "./uncounted-target.ts";

export interface Http1LegParts {
  readonly net: NetEventLoop;
  readonly memory: H2Memory;
  readonly pool: ServerPool;
  /** What the server is told first on a new connection. */
  readonly greeting: Buffer;
  readonly settings: LinkSettings;
  readonly target: DialTarget;
  /** Asked when there is a connection. */
  readonly request: () => LegRequest;
  readonly owner: Http1LegOwner;
}

export interface Http1LegOwner extends LegOwner {
  /** The head is on its way, and the body can follow. */
  legReady(leg: ServerLeg): void;
  /** No connection could be made, with a negative errno. Nothing else is told then. */
  unreachable(result: number): void;
}

/** So much may be on its way to a client that does not take it; the server waits then. */
const MAX_UNCONSUMED_BYTES = 65_536;
const NO_BYTES = Buffer.alloc(0);

/** A request to a server that speaks HTTP/1.1, on a connection of its own. */
export class Http1Leg implements ServerLeg, EndOwner, DialHandler {
  readonly #parts: Http1LegParts;
  readonly #output: OutputBuffer<Region>;
  readonly #input: HttpInput;
  readonly #parser = new ResponseParser();
  readonly #body = new Http1Body();
  #request: ChunkedRequest | undefined;
  #method = "";
  #dial: Dial | undefined;
  #server: RelayEnd | undefined;
  /** From the pool: the server may have closed it in the meantime. */
  #isReused = false;
  #hasAnswered = false;
  #keepsAlive = false;
  #unconsumed = 0;
  #isOver = false;

  constructor(parts: Http1LegParts) {
    this.#parts = parts;
    const { net, memory } = parts;
    this.#input = new HttpInput(net);
    this.#output = new OutputBuffer<Region>(memory, () => net.loop.nextTick(() => this.#advance()));
  }

  /** The owner may be told before it returns. */
  start(): void {
    const { net, pool, target, settings } = this.#parts;
    const pooled = pool.take(target);
    if (pooled !== undefined) {
      this.#isReused = true;
      this.#attach(pooled, NO_BYTES);
      return;
    }
    const targets = new ListTargets([new UncountedTarget(target)]);
    this.#dial = new Dial(net, targets, { ...settings, handler: this });
    this.#dial.start();
  }

  send(bytes: Buffer, start: number, end: number, isEnd: boolean): number {
    if (this.#isOver || this.#request === undefined) return end - start;
    const sent = this.#request.send(bytes, start, end);
    if (isEnd) this.#request.end();
    return sent;
  }

  sendTrailers(fields: readonly HeaderField[]): void {
    if (!this.#isOver) this.#request?.end(renderTrailers(fields));
  }

  consumed(byteCount: number): void {
    const wasFull = this.#isFull;
    this.#unconsumed -= byteCount;
    if (wasFull && !this.#isFull) this.#parts.net.loop.nextTick(() => this.#advance());
  }

  reset(_code: number): void {
    this.#end(false);
  }

  dialed(server: RelayEnd): void {
    this.#dial = undefined;
    this.#attach(server, this.#parts.greeting);
  }

  dialFailed(result: number): void {
    this.#dial = undefined;
    this.#end(false);
    this.#parts.owner.unreachable(result);
  }

  endReady(): void {
    this.#advance();
  }

  endDismissed(): void {
    this.#fail("lost");
  }

  get listener(): string {
    return this.#parts.pool.listener;
  }

  roleOf(): ChannelRole {
    return { listener: this.listener, server: this.#parts.target.key };
  }

  get #isFull(): boolean {
    return this.#unconsumed >= MAX_UNCONSUMED_BYTES;
  }

  #attach(server: RelayEnd, greeting: Buffer): void {
    this.#server = server;
    server.owner = this;
    const { head, forwarding, isEnd } = this.#parts.request();
    const isChunked = !isEnd && head.contentLength < 0;
    const request = new ChunkedRequest(this.#output, isChunked);
    this.#request = request;
    this.#method = head.method;
    if (greeting.length > 0) request.head(greeting);
    request.head(renderHttp1Request(head, forwarding, isChunked));
    if (isEnd) request.end();
    this.#parts.owner.legReady(this);
  }

  #advance(): void {
    if (this.#isOver || this.#server === undefined) return;
    this.#flush(this.#server);
    if (!this.#isOver) this.#readAll(this.#server);
  }

  #flush(server: RelayEnd): void {
    for (;;) {
      const { memory, start, size } = this.#output;
      if (memory === undefined) return;
      const count = server.fd.write(memory, start, size);
      if (count === -ERRNO.EAGAIN) return;
      if (count < 0) {
        // A server may answer, and close, before it has heard all: then its answer counts.
        if (server.fd.readable && !this.#isReused) this.#output.clear();
        else this.#fail("lost");
        return;
      }
      server.sent += count;
      this.#output.drop(count);
      const sent = this.#request?.refill() ?? 0;
      if (sent > 0) this.#parts.owner.legSent(sent);
      if (this.#isOver) return;
    }
  }

  #readAll(server: RelayEnd): void {
    while (!this.#isOver && !this.#isFull) {
      if (this.#input.isEmpty && !server.hasEnded && !this.#readMore(server)) return;
      if (!(this.#hasAnswered ? this.#readBody(server) : this.#readHead(server))) return;
    }
  }

  /** False where there is nothing to read now, or not any more. */
  #readMore(server: RelayEnd): boolean {
    if (server.hasEnded) {
      this.#fail("lost");
      return false;
    }
    const count = server.fd.readable ? this.#input.read(server) : -ERRNO.EAGAIN;
    if (count < 0 && count !== -ERRNO.EAGAIN) this.#fail("lost");
    return count >= 0;
  }

  /** False where more bytes are needed. */
  #readHead(server: RelayEnd): boolean {
    const { bytes } = this.#input;
    const context = { method: this.#method, asksUpgrade: false };
    const outcome = this.#parser.parse(bytes, 0, bytes.length, context);
    if (outcome.kind === "malformed") {
      this.#fail("malformed");
      return false;
    }
    if (outcome.kind === "more") return this.#readMore(server);
    const { head } = outcome;
    const response = readHttp1Response(head);
    this.#hasAnswered = !isInterim(head.status);
    this.#keepsAlive = head.keepsAlive;
    const isEnd = this.#hasAnswered && head.body.kind === "none";
    if (this.#hasAnswered) this.#body.begin(head.body);
    this.#input.drop(head.end);
    // First, so that the connection is free before the owner may give up what is left of the exchange.
    if (isEnd) this.#end(true);
    this.#parts.owner.legAnswered(response, isEnd);
    return !this.#isOver;
  }

  #readBody(server: RelayEnd): boolean {
    const { bytes } = this.#input;
    if (bytes.length === 0 && server.hasEnded && !this.#body.mayEndHere) {
      this.#fail("lost");
      return false;
    }
    const used = this.#body.take(bytes, (start, end) => {
      this.#unconsumed += end - start;
      this.#parts.owner.legData(bytes, start, end, false);
    });
    if (used < 0) {
      this.#fail("malformed");
      return false;
    }
    if (this.#isOver) return false;
    this.#input.drop(used);
    const isEnd = this.#body.isDone || (server.hasEnded && this.#input.isEmpty);
    if (isEnd) {
      const trailers = this.#body.trailers();
      this.#end(true);
      if (trailers.length > 0) this.#parts.owner.legTrailers(trailers);
      else this.#parts.owner.legData(NO_BYTES, 0, 0, true);
    }
    return !this.#isOver;
  }

  #fail(kind: LegFailure["kind"]): void {
    if (this.#isOver) return;
    const canRepeat = this.#isReused && kind === "lost";
    this.#end(false);
    this.#parts.owner.legFailed({ kind, code: CODE.INTERNAL_ERROR, canRepeat });
  }

  /** @param isClean whether the response is complete. */
  #end(isClean: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#dial?.cancel();
    const { net, pool, target } = this.#parts;
    const server = this.#server;
    this.#server = undefined;
    const isReusable =
      isClean && this.#keepsAlive && this.#request?.isSent === true && this.#input.isEmpty;
    this.#output.clear();
    if (server === undefined) return;
    if (isReusable && !server.hasEnded) pool.put(target, server);
    else server.leave(net.loop, !isClean);
  }
}
