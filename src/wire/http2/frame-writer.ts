import { EMPTY_TABLE } from "./hpack/header-block-writer.ts";
import type { ByteSink } from "./output-buffer.ts";
import {
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  MAX_FRAME_BYTES,
  PING_BYTES,
  SETTING_BYTES,
} from "./protocol.ts";

const WORD_BYTES = 4;

/** Writes the frames of one side of a connection. */
export class FrameWriter {
  readonly #sink: ByteSink;
  #hasSentBlock = false;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** How many bytes wait to be sent. */
  get waitingBytes(): number {
    return this.#sink.size;
  }

  raw(bytes: Buffer): void {
    const at = this.#sink.extend(bytes.length);
    bytes.copy(this.#sink.bytes, at);
  }

  settings(values: readonly (readonly [id: number, value: number])[]): void {
    let at = this.#begin(FRAME.SETTINGS, 0, 0, values.length * SETTING_BYTES);
    for (const [id, value] of values) {
      at = this.#sink.bytes.writeUInt16BE(id, at);
      at = this.#sink.bytes.writeUInt32BE(value, at);
    }
  }

  settingsAck(): void {
    this.#begin(FRAME.SETTINGS, FLAG.ACK, 0, 0);
  }

  /** Eight bytes. */
  ping(payload: Buffer, start: number, flags: number): void {
    const at = this.#begin(FRAME.PING, flags, 0, PING_BYTES);
    payload.copy(this.#sink.bytes, at, start, start + PING_BYTES);
  }

  goAway(lastStreamId: number, code: number): void {
    const at = this.#begin(FRAME.GOAWAY, 0, 0, 2 * WORD_BYTES);
    this.#sink.bytes.writeUInt32BE(lastStreamId, at);
    this.#sink.bytes.writeUInt32BE(code, at + WORD_BYTES);
  }

  resetStream(streamId: number, code: number): void {
    this.#word(FRAME.RST_STREAM, streamId, code);
  }

  windowUpdate(streamId: number, increment: number): void {
    this.#word(FRAME.WINDOW_UPDATE, streamId, increment);
  }

  /** `MAX_FRAME_BYTES` at most. */
  data(streamId: number, bytes: Buffer, start: number, end: number, isEnd: boolean): void {
    const flags = isEnd ? FLAG.END_STREAM : 0;
    const at = this.#begin(FRAME.DATA, flags, streamId, end - start);
    bytes.copy(this.#sink.bytes, at, start, end);
  }

  /** A block of `HeaderBlockWriter`; where it is long, in several frames. */
  headers(streamId: number, block: Buffer, isEnd: boolean): void {
    const first = this.#hasSentBlock ? 0 : 1;
    const inFirst = Math.min(block.length, MAX_FRAME_BYTES - first);
    const endStream = isEnd ? FLAG.END_STREAM : 0;
    const endHeaders = inFirst === block.length ? FLAG.END_HEADERS : 0;
    let at = this.#begin(FRAME.HEADERS, endStream | endHeaders, streamId, first + inFirst);
    if (!this.#hasSentBlock) this.#sink.bytes[at++] = EMPTY_TABLE;
    this.#hasSentBlock = true;
    block.copy(this.#sink.bytes, at, 0, inFirst);
    for (let start = inFirst; start < block.length; start += MAX_FRAME_BYTES) {
      const end = Math.min(block.length, start + MAX_FRAME_BYTES);
      const flags = end === block.length ? FLAG.END_HEADERS : 0;
      at = this.#begin(FRAME.CONTINUATION, flags, streamId, end - start);
      block.copy(this.#sink.bytes, at, start, end);
    }
  }

  #word(type: number, streamId: number, word: number): void {
    const at = this.#begin(type, 0, streamId, WORD_BYTES);
    this.#sink.bytes.writeUInt32BE(word, at);
  }

  /** Returns where the payload goes. */
  #begin(type: number, flags: number, streamId: number, length: number): number {
    const at = this.#sink.extend(FRAME_HEADER_BYTES + length);
    const { bytes } = this.#sink;
    bytes[at] = length >>> 16;
    bytes[at + 1] = length >>> 8;
    bytes[at + 2] = length;
    bytes[at + 3] = type;
    bytes[at + 4] = flags;
    bytes.writeUInt32BE(streamId, at + 5);
    return at + FRAME_HEADER_BYTES;
  }
}
