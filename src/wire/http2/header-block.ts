import { CODE, FLAG } from "./protocol.ts";

const PRIORITY_BYTES = 5;
const NO_BYTES = Buffer.alloc(0);

/** A header block, from HEADERS and the CONTINUATION frames that follow it. */
export class HeaderBlock {
  readonly #maxBytes: number;
  readonly #maxFrames: number;
  streamId = 0;
  isEndOfStream = false;
  /** Whether it says that the stream depends on itself. */
  dependsOnItself = false;
  /** The block, once `isComplete`; valid as long as the frame is. */
  bytes: Buffer = NO_BYTES;
  start = 0;
  end = 0;
  #parts: Buffer[] = [];
  #partBytes = 0;
  #isOpen = false;

  constructor(maxBytes: number, maxFrames: number) {
    this.#maxBytes = maxBytes;
    this.#maxFrames = maxFrames;
  }

  /** Whether CONTINUATION must follow. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** A HEADERS frame: 0, or the error code with which the connection ends. */
  begin(flags: number, streamId: number, bytes: Buffer, start: number, end: number): number {
    const isPadded = (flags & FLAG.PADDED) !== 0;
    const hasPriority = (flags & FLAG.PRIORITY) !== 0;
    const fixed = (isPadded ? 1 : 0) + (hasPriority ? PRIORITY_BYTES : 0);
    if (end - start < fixed) return CODE.FRAME_SIZE_ERROR;
    const padding = isPadded ? (bytes[start] ?? 0) : 0;
    const from = start + fixed;
    if (padding > end - from) return CODE.PROTOCOL_ERROR;
    this.streamId = streamId;
    this.isEndOfStream = (flags & FLAG.END_STREAM) !== 0;
    this.dependsOnItself = hasPriority && dependencyOf(bytes, from - PRIORITY_BYTES) === streamId;
    return this.#add(flags, bytes, from, end - padding);
  }

  /** A CONTINUATION frame. */
  goOn(flags: number, bytes: Buffer, start: number, end: number): number {
    return this.#add(flags, bytes, start, end);
  }

  #add(flags: number, bytes: Buffer, start: number, end: number): number {
    const isComplete = (flags & FLAG.END_HEADERS) !== 0;
    if (isComplete && !this.#isOpen) {
      this.bytes = bytes;
      this.start = start;
      this.end = end;
      return CODE.NO_ERROR;
    }
    this.#isOpen = !isComplete;
    this.#partBytes += end - start;
    this.#parts.push(Buffer.from(bytes.subarray(start, end)));
    if (this.#partBytes > this.#maxBytes || this.#parts.length > this.#maxFrames) {
      return CODE.ENHANCE_YOUR_CALM;
    }
    if (isComplete) this.#join();
    return CODE.NO_ERROR;
  }

  #join(): void {
    this.bytes = Buffer.concat(this.#parts);
    this.start = 0;
    this.end = this.bytes.length;
    this.#parts = [];
    this.#partBytes = 0;
  }
}

/** The stream that a priority names. */
export function dependencyOf(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) & 0x7fffffff;
}
