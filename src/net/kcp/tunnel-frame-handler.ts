import { ERRNO } from "../../platform/errno.ts";
import type { FrameHandler } from "../../wire/http2/frame-reader.ts";
import { CODE, FLAG, FRAME, PING_BYTES } from "../../wire/http2/protocol.ts";
import type { KcpStream } from "./kcp-stream.ts";
import { END, firstWindowOf } from "./tunnel-frames.ts";

/** What frames do to a tunnel. */
export interface FrameTarget {
  readonly isEnded: boolean;
  /** False where no such stream may be opened. */
  opened(streamId: number): boolean;
  stream(streamId: number): KcpStream | undefined;
  answer(type: number, flags: number, streamId: number, payload: Uint8Array): void;
  /** What may be sent of a stream before a word about that comes. */
  settled(firstWindowBytes: number): void;
  lost(result: number): void;
}

const NOTHING = new Uint8Array(0);
const WORD_BYTES = 4;

/** Reads the frames of a tunnel. */
export class TunnelFrameHandler implements FrameHandler {
  readonly #target: FrameTarget;
  #flags = 0;
  #streamId = 0;

  constructor(target: FrameTarget) {
    this.#target = target;
  }

  frameBegins(_type: number, flags: number, streamId: number): number {
    this.#flags = flags;
    this.#streamId = streamId;
    return CODE.NO_ERROR;
  }

  data(bytes: Buffer, start: number, end: number, isLast: boolean): number {
    const stream = this.#target.stream(this.#streamId);
    if (stream === undefined) {
      if (isLast) this.#target.answer(FRAME.HEADERS, END, this.#streamId, NOTHING);
      return CODE.NO_ERROR;
    }
    if (end > start && !stream.arrived(bytes.subarray(start, end))) return CODE.FLOW_CONTROL_ERROR;
    if (isLast && (this.#flags & END) !== 0) stream.ended();
    return CODE.NO_ERROR;
  }

  frame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): number {
    switch (type) {
      case FRAME.HEADERS:
        if ((flags & END) === 0) {
          return this.#target.opened(streamId) ? CODE.NO_ERROR : CODE.PROTOCOL_ERROR;
        }
        this.#target.stream(streamId)?.failed(-ERRNO.ECONNRESET);
        return CODE.NO_ERROR;
      case FRAME.WINDOW_UPDATE:
        if (end - start !== WORD_BYTES) return CODE.FRAME_SIZE_ERROR;
        this.#target.stream(streamId)?.credited(bytes.readUInt32BE(start));
        return CODE.NO_ERROR;
      case FRAME.PING:
        if (end - start !== PING_BYTES) return CODE.FRAME_SIZE_ERROR;
        if ((flags & FLAG.ACK) === 0) {
          this.#target.answer(FRAME.PING, FLAG.ACK, 0, bytes.subarray(start, end));
        }
        return CODE.NO_ERROR;
      case FRAME.GOAWAY:
        this.#target.lost(-ERRNO.ECONNRESET);
        return CODE.NO_ERROR;
      case FRAME.SETTINGS: {
        const firstWindowBytes = firstWindowOf(bytes.subarray(start, end));
        if (firstWindowBytes !== undefined) this.#target.settled(firstWindowBytes);
        return CODE.NO_ERROR;
      }
      default:
        // What is not known is left to later versions.
        return CODE.NO_ERROR;
    }
  }
}
