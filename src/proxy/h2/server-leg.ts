import type { HeaderField } from "../../wire/http2/hpack/header-field.ts";
import type { Http2ResponseHead } from "../../wire/http2/response-head.ts";

/** Why a server's side of an exchange is no more. */
export interface LegFailure {
  /** `reset`: the server says so. `lost`: its connection is gone. `malformed`: what it said is no HTTP. */
  readonly kind: "reset" | "lost" | "malformed";
  /** The error code of HTTP/2 for it. */
  readonly code: number;
  /** Whether it does no harm to send the request again, where nothing came of it yet. */
  readonly canRepeat: boolean;
}

/** Is told what a server answers. Nothing is told after `legFailed`. */
export interface LegOwner {
  /** The head of the response; before it there may be some of interim ones. */
  legAnswered(head: Http2ResponseHead, isEnd: boolean): void;
  /** The bytes are good for the time of the call. They are to be told to `consumed` when they are used. */
  legData(bytes: Buffer, start: number, end: number, isEnd: boolean): void;
  /** Trailers, with which the response ends. */
  legTrailers(fields: readonly HeaderField[]): void;
  legFailed(failure: LegFailure): void;
  /** So many bytes have gone out that `send` had to keep. */
  legSent(byteCount: number): void;
}

/** The side of an exchange that leads to a server, whichever version of HTTP that speaks. */
export interface ServerLeg {
  /** Takes all of it; how much went out at once. */
  send(bytes: Buffer, start: number, end: number, isEnd: boolean): number;
  /** Ends the request. */
  sendTrailers(fields: readonly HeaderField[]): void;
  consumed(byteCount: number): void;
  /** Gives it up; the owner is not told. Nothing happens where both sides have ended. */
  reset(code: number): void;
}
