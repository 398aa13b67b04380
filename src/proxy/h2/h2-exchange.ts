import type { NetEventLoop } from "../../net/net-event-loop.ts";
import { ERRNO } from "../../platform/errno.ts";
import type { FieldList } from "../../wire/http2/hpack/field-list.ts";
import type { HeaderField } from "../../wire/http2/hpack/header-field.ts";
import type { Http2Stream, StreamOwner } from "../../wire/http2/http2-stream.ts";
import { readTrailers } from "../../wire/http2/message-fields.ts";
import { CODE } from "../../wire/http2/protocol.ts";
import type { Http2RequestHead } from "../../wire/http2/request-head.ts";
import { type Http2ResponseHead, isInterim } from "../../wire/http2/response-head.ts";
import {
  type Http2Forwarding,
  writeResponseHead,
  writeTrailers,
} from "../../wire/http2/write-head.ts";
import type { DialTarget, DialTargets } from "../relay/dial-targets.ts";
import { answerStream } from "./answer-stream.ts";
import type { LegRequest } from "./h2-leg.ts";
import type { H2Service } from "./h2-service.ts";
import { Http1Leg, type Http1LegOwner } from "./http1-leg.ts";
import { RequestBody } from "./request-body.ts";
import type { LegFailure, ServerLeg } from "./server-leg.ts";
import type { LinkSettings, LinkWaiter, ServerLink } from "./server-link.ts";

export interface H2ExchangeParts {
  readonly net: NetEventLoop;
  readonly service: H2Service;
  readonly client: Http2Stream;
  readonly head: Http2RequestHead;
  readonly forwarding: Http2Forwarding;
  /** Whether the head is all of the request. */
  readonly isEnd: boolean;
  readonly targets: DialTargets;
  /** Is told when it is over; once. */
  readonly onOver: (exchange: H2Exchange) => void;
}

const BAD_GATEWAY = 502;
const UNAVAILABLE = 503;
const GATEWAY_TIMEOUT = 504;
const MAX_ATTEMPTS = 3;
const MAX_INTERIMS = 32;

/** One request and its response: a stream of a client, and a server that is chosen for it. */
export class H2Exchange implements StreamOwner, LinkWaiter, Http1LegOwner {
  readonly #parts: H2ExchangeParts;
  readonly #body: RequestBody;
  readonly #beganMs: number;
  #target: DialTarget | undefined;
  #link: ServerLink | undefined;
  #leg: ServerLeg | undefined;
  #attempts = 0;
  #interims = 0;
  #hasSpoken = false;
  #hasAnswered = false;
  #isAnswerEnded = false;
  #isOver = false;
  #lastMs: number;

  constructor(parts: H2ExchangeParts) {
    this.#parts = parts;
    this.#body = new RequestBody(parts.isEnd);
    this.#beganMs = parts.net.loop.nowMs;
    this.#lastMs = this.#beganMs;
    parts.client.owner = this;
  }

  /** When something moved last. */
  get lastMs(): number {
    return this.#lastMs;
  }

  start(): void {
    const target = this.#parts.targets.next();
    if (target === undefined) this.answer(UNAVAILABLE);
    else this.#ask(target);
  }

  /** Answers in place of a server, and ends. */
  answer(status: number): void {
    const { client, service } = this.#parts;
    service.http.row.failed();
    answerStream(client, status, service.memory.block);
    this.#end();
  }

  /** Nothing has moved for too long. */
  timeOut(): void {
    this.#link?.doubt();
    if (!this.#hasAnswered) {
      this.answer(GATEWAY_TIMEOUT);
      return;
    }
    this.#parts.client.reset(CODE.CANCEL);
    this.#end();
  }

  reached(link: ServerLink): void {
    if (this.#isOver) return;
    this.#link = link;
    this.legReady(link.open(this, this.#request));
  }

  reachedHttp1(): void {
    const { net, service } = this.#parts;
    const target = this.#target;
    if (target === undefined) return;
    const leg = new Http1Leg({
      net,
      target,
      memory: service.memory,
      pool: service.pool,
      greeting: service.greeting,
      settings: this.#settings,
      request: () => this.#request,
      owner: this,
    });
    this.#leg = leg;
    leg.start();
  }

  legReady(leg: ServerLeg): void {
    this.#leg = leg;
    this.#parts.client.consumed(this.#body.lead(leg));
  }

  unreachable(result: number): void {
    if (this.#isOver) return;
    this.#leg = undefined;
    if (!this.#askNext()) {
      this.answer(result === -ERRNO.ETIMEDOUT ? GATEWAY_TIMEOUT : BAD_GATEWAY);
    }
  }

  fieldsArrived(list: FieldList, isEnd: boolean): void {
    const trailers = isEnd ? readTrailers(list) : undefined;
    if (trailers !== undefined) {
      this.#touch();
      this.#body.addTrailers(trailers);
      return;
    }
    this.#parts.client.reject();
    this.#leg?.reset(CODE.CANCEL);
    this.#end();
  }

  dataArrived(bytes: Buffer, start: number, end: number, isEnd: boolean): void {
    this.#touch();
    this.#target?.moved(end - start, 0);
    // Where the server has answered and is gone, nobody wants it.
    const isWanted = this.#leg !== undefined || !this.#hasAnswered;
    const used = isWanted ? this.#body.add(bytes, start, end, isEnd) : end - start;
    this.#parts.client.consumed(used);
  }

  streamReset(code: number): void {
    this.#leg?.reset(code === CODE.NO_ERROR ? CODE.CANCEL : code);
    this.#end();
  }

  streamDone(): void {
    this.#leg?.reset(CODE.CANCEL);
    this.#end();
  }

  dataSent(byteCount: number): void {
    this.#touch();
    this.#leg?.consumed(byteCount);
    if (this.#leg === undefined) this.#stopUpload();
  }

  legAnswered({ status, fields }: Http2ResponseHead, isEnd: boolean): void {
    this.#touch();
    if (isInterim(status) && this.#isTalkative()) return;
    if (!this.#hasSpoken) this.#target?.tookMs(this.#parts.net.loop.nowMs - this.#beganMs);
    this.#hasSpoken = true;
    this.#hasAnswered = !isInterim(status);
    this.#isAnswerEnded = isEnd;
    const { block } = this.#parts.service.memory;
    writeResponseHead(block, status, fields);
    this.#parts.client.sendFields(block.bytes, isEnd);
  }

  legData(bytes: Buffer, start: number, end: number, isEnd: boolean): void {
    this.#touch();
    this.#target?.moved(0, end - start);
    this.#isAnswerEnded = isEnd;
    const leg = this.#leg;
    const sent = this.#parts.client.send(bytes, start, end, isEnd);
    leg?.consumed(sent);
  }

  legTrailers(fields: readonly HeaderField[]): void {
    this.#touch();
    this.#isAnswerEnded = true;
    const { block } = this.#parts.service.memory;
    writeTrailers(block, fields);
    this.#parts.client.sendFields(block.bytes, true);
  }

  legFailed({ kind, code, canRepeat }: LegFailure): void {
    if (this.#isOver) return;
    this.#leg = undefined;
    if (this.#isAnswerEnded) {
      this.#stopUpload();
      return;
    }
    const target = this.#target;
    if (kind === "malformed" && target !== undefined) this.#parts.service.links.forgetHttp1(target);
    const isUnheard = !this.#hasSpoken && !this.#body.hasPassed;
    if (canRepeat && isUnheard && this.#repeat()) return;
    if (!this.#hasAnswered && kind !== "reset") {
      this.answer(BAD_GATEWAY);
      return;
    }
    this.#parts.client.reset(code);
    this.#end();
  }

  legSent(byteCount: number): void {
    this.#touch();
    this.#parts.client.consumed(byteCount);
  }

  get #request(): LegRequest {
    const { head, forwarding } = this.#parts;
    return { head, forwarding, isEnd: this.#body.isEmpty };
  }

  get #settings(): LinkSettings {
    const { connectTimeoutMs, outBufferBytes } = this.#parts.service.http;
    return { connectTimeoutMs, bufferBytes: outBufferBytes };
  }

  #ask(target: DialTarget): void {
    this.#attempts += 1;
    this.#target = target;
    target.opened();
    this.#parts.service.links.reach(target, this, this.#settings);
  }

  /** The same server once more, on another connection; then others. */
  #repeat(): boolean {
    this.#body.takeBack();
    const target = this.#target;
    if (target === undefined || this.#attempts > 1) return this.#askNext();
    target.closed();
    this.#ask(target);
    return true;
  }

  /** False where there is none left to ask. */
  #askNext(): boolean {
    this.#target?.closed();
    this.#target = undefined;
    const next = this.#attempts < MAX_ATTEMPTS ? this.#parts.targets.next() : undefined;
    if (next !== undefined) this.#ask(next);
    return next !== undefined;
  }

  /** The server is gone after its answer; once that is sent, the client need not go on either. */
  #stopUpload(): void {
    const { client } = this.#parts;
    if (!client.isLocalEnded || this.#isOver) return;
    client.reset(CODE.NO_ERROR);
    this.#end();
  }

  /** Interim heads are not held back by any window: a server may not send them without end. */
  #isTalkative(): boolean {
    this.#interims += 1;
    if (this.#interims <= MAX_INTERIMS) return false;
    this.#leg?.reset(CODE.CANCEL);
    this.legFailed({ kind: "malformed", code: CODE.INTERNAL_ERROR, canRepeat: false });
    return true;
  }

  #touch(): void {
    this.#lastMs = this.#parts.net.loop.nowMs;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const target = this.#target;
    this.#target = undefined;
    this.#leg?.reset(CODE.CANCEL);
    this.#leg = undefined;
    if (target !== undefined) {
      this.#parts.service.links.cancel(target, this);
      target.closed();
    }
    this.#parts.onOver(this);
  }
}
