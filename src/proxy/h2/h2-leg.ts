import type { FieldList } from "../../wire/http2/hpack/field-list.ts";
import type { HeaderBlockWriter } from "../../wire/http2/hpack/header-block-writer.ts";
import type { HeaderField } from "../../wire/http2/hpack/header-field.ts";
import { type Http2Stream, NO_OWNER, type StreamOwner } from "../../wire/http2/http2-stream.ts";
import { readTrailers } from "../../wire/http2/message-fields.ts";
import { CODE } from "../../wire/http2/protocol.ts";
import type { Http2RequestHead } from "../../wire/http2/request-head.ts";
import { bodyBytesOf, isInterim, readResponseHead } from "../../wire/http2/response-head.ts";
import {
  type Http2Forwarding,
  writeRequestHead,
  writeTrailers,
} from "../../wire/http2/write-head.ts";
import type { LegOwner, ServerLeg } from "./server-leg.ts";

/** What a leg sends first. */
export interface LegRequest {
  readonly head: Http2RequestHead;
  readonly forwarding: Http2Forwarding;
  /** Whether the head is all of it. */
  readonly isEnd: boolean;
}

/** What a leg needs of the connection that its stream is on. */
export interface LegLink {
  readonly isClosed: boolean;
}

/** Methods that may be sent again where it is not known what became of the first. */
const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

/** A stream to a server that speaks HTTP/2. */
export class H2Leg implements ServerLeg, StreamOwner {
  readonly #writer: HeaderBlockWriter;
  readonly #link: LegLink;
  readonly #owner: LegOwner;
  readonly #method: string;
  #stream: Http2Stream | undefined;
  #hasAnswered = false;

  constructor(
    owner: LegOwner,
    method: string,
    parts: { readonly writer: HeaderBlockWriter; readonly link: LegLink },
  ) {
    this.#owner = owner;
    this.#method = method;
    this.#writer = parts.writer;
    this.#link = parts.link;
  }

  start(stream: Http2Stream, { head, forwarding, isEnd }: LegRequest): void {
    this.#stream = stream;
    writeRequestHead(this.#writer, head, forwarding);
    stream.sendFields(this.#writer.bytes, isEnd);
  }

  send(bytes: Buffer, start: number, end: number, isEnd: boolean): number {
    return this.#stream?.send(bytes, start, end, isEnd) ?? end - start;
  }

  sendTrailers(fields: readonly HeaderField[]): void {
    writeTrailers(this.#writer, fields);
    this.#stream?.sendFields(this.#writer.bytes, true);
  }

  consumed(byteCount: number): void {
    this.#stream?.consumed(byteCount);
  }

  reset(code: number): void {
    if (this.#stream !== undefined) this.#stream.owner = NO_OWNER;
    this.#stream?.reset(code);
  }

  fieldsArrived(list: FieldList, isEnd: boolean): void {
    if (this.#hasAnswered) {
      const trailers = isEnd ? readTrailers(list) : undefined;
      if (trailers === undefined) this.#malformed();
      else this.#owner.legTrailers(trailers);
      return;
    }
    const head = readResponseHead(list);
    if (head === undefined || (isEnd && isInterim(head.status))) {
      this.#malformed();
      return;
    }
    this.#hasAnswered = !isInterim(head.status);
    const stream = this.#stream;
    if (stream !== undefined && this.#hasAnswered) {
      stream.announcedBytes = bodyBytesOf(head, this.#method);
    }
    this.#owner.legAnswered(head, isEnd);
  }

  dataArrived(bytes: Buffer, start: number, end: number, isEnd: boolean): void {
    if (this.#hasAnswered) this.#owner.legData(bytes, start, end, isEnd);
    else this.#malformed();
  }

  streamReset(code: number): void {
    const isLost = this.#link.isClosed;
    const canRepeat = code === CODE.REFUSED_STREAM || (isLost && REPEATABLE.has(this.#method));
    this.#owner.legFailed({ kind: isLost ? "lost" : "reset", code, canRepeat });
  }

  // What there was to tell was told with the end of the response.
  streamDone(): void {}

  dataSent(byteCount: number): void {
    this.#owner.legSent(byteCount);
  }

  #malformed(): void {
    this.reset(CODE.PROTOCOL_ERROR);
    this.#owner.legFailed({ kind: "malformed", code: CODE.PROTOCOL_ERROR, canRepeat: false });
  }
}
