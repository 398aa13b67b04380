import { CODE, FLAG, FRAME, FRAME_HEADER_BYTES, MAX_FRAME_BYTES } from "./protocol.ts";

/**
 * Is shown what comes. Each call returns 0 to go on, or the error code with which the connection ends:
 * then nothing more is shown.
 */
export interface FrameHandler {
  /** Before the payload; what has a wrong size or place is refused here, before it is waited for. */
  frameBegins(type: number, flags: number, streamId: number, length: number): number;
  /** A whole frame, other than DATA. */
  frame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): number;
  /**
   * A part of the data of a frame, without its padding. `isLast`: the frame is complete with it. Shown at
   * least once for each frame, with no bytes where it has none.
   */
  data(bytes: Buffer, start: number, end: number, isLast: boolean): number;
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Cuts bytes into frames, as the network splits them. DATA is shown as it comes; other frames are
 * gathered where they come in parts.
 */
export class FrameReader {
  readonly #handler: FrameHandler;
  readonly #header: Buffer = Buffer.alloc(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  #type = 0;
  #flags = 0;
  #streamId = 0;
  /** Of the payload, that has not come yet. */
  #left = 0;
  #isInPayload = false;
  /** Padding at the end of the DATA frame; -1 where its length has not come yet. */
  #padding = 0;
  /** The beginning of a payload that has not come as a whole. */
  #kept: Buffer = NO_BYTES;
  #keptBytes = 0;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  /** 0, or the error code with which the connection ends. */
  read(bytes: Buffer, start: number, end: number): number {
    let at = start;
    for (;;) {
      if (!this.#isInPayload) {
        const next = this.#readHeader(bytes, at, end);
        if (next < 0) return -next;
        at = next;
        if (!this.#isInPayload) return CODE.NO_ERROR;
      }
      if (at === end && this.#left > 0) return CODE.NO_ERROR;
      const count = Math.min(this.#left, end - at);
      const code = this.#readPayload(bytes, at, at + count);
      if (code !== CODE.NO_ERROR) return code;
      at += count;
    }
  }

  #readPayload(bytes: Buffer, start: number, end: number): number {
    this.#left -= end - start;
    this.#isInPayload = this.#left > 0;
    const isData = this.#type === FRAME.DATA;
    return isData ? this.#showData(bytes, start, end) : this.#showFrame(bytes, start, end);
  }

  /** Where it ends, as far as it has come; or the negative error code. */
  #readHeader(bytes: Buffer, start: number, end: number): number {
    const count = Math.min(FRAME_HEADER_BYTES - this.#headerBytes, end - start);
    if (count === FRAME_HEADER_BYTES) return this.#begin(bytes, start) || start + count;
    bytes.copy(this.#header, this.#headerBytes, start, start + count);
    this.#headerBytes += count;
    if (this.#headerBytes < FRAME_HEADER_BYTES) return end;
    this.#headerBytes = 0;
    return this.#begin(this.#header, 0) || start + count;
  }

  /** 0, or the negative error code. */
  #begin(header: Buffer, at: number): number {
    this.#left = header.readUIntBE(at, 3);
    this.#type = header[at + 3] ?? 0;
    this.#flags = header[at + 4] ?? 0;
    this.#streamId = header.readUInt32BE(at + 5) & 0x7fffffff;
    if (this.#left > MAX_FRAME_BYTES) return -CODE.FRAME_SIZE_ERROR;
    const isPadded = this.#type === FRAME.DATA && (this.#flags & FLAG.PADDED) !== 0;
    if (isPadded && this.#left === 0) return -CODE.FRAME_SIZE_ERROR;
    const code = this.#handler.frameBegins(this.#type, this.#flags, this.#streamId, this.#left);
    if (code !== CODE.NO_ERROR) return -code;
    this.#padding = isPadded ? -1 : 0;
    this.#keptBytes = 0;
    this.#isInPayload = true;
    return CODE.NO_ERROR;
  }

  #showData(bytes: Buffer, start: number, end: number): number {
    let from = start;
    if (this.#padding < 0 && from < end) {
      this.#padding = bytes[from] ?? 0;
      from += 1;
      if (this.#padding > this.#left + (end - from)) return CODE.PROTOCOL_ERROR;
    }
    const padding = Math.max(0, this.#padding);
    const dataEnd = Math.max(from, Math.min(end, end + this.#left - padding));
    const isLast = this.#left === 0;
    if (from === dataEnd && !isLast) return CODE.NO_ERROR;
    return this.#handler.data(bytes, from, dataEnd, isLast);
  }

  #showFrame(bytes: Buffer, start: number, end: number): number {
    const isWhole = this.#left === 0;
    if (isWhole && this.#keptBytes === 0) {
      return this.#handler.frame(this.#type, this.#flags, this.#streamId, bytes, start, end);
    }
    if (this.#keptBytes === 0) this.#kept = Buffer.allocUnsafe(end - start + this.#left);
    bytes.copy(this.#kept, this.#keptBytes, start, end);
    this.#keptBytes += end - start;
    if (!isWhole) return CODE.NO_ERROR;
    const kept = this.#kept;
    this.#kept = NO_BYTES;
    return this.#handler.frame(this.#type, this.#flags, this.#streamId, kept, 0, kept.length);
  }
}
