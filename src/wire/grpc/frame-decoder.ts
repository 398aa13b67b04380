import { CoreError } from "../../core/errors.ts";
import { FRAME_HEADER_BYTES } from "./frame-header.ts";

const NO_BYTES = Buffer.alloc(0);

/**
 * Cuts a gRPC stream into its messages. Bytes come as the network splits them:
 *
 *     decoder.feed(chunk);
 *     while (decoder.next()) read(decoder.bytes, decoder.start, decoder.end);
 *
 * A message is a part of `bytes` and not a copy, as there are hundreds of thousands of small ones.
 * After it has thrown it must not be used again.
 */
export class FrameDecoder {
  readonly #maxMessageBytes: number;
  #bytes: Buffer = NO_BYTES;
  #at = 0;
  #start = 0;
  /** What came since `#bytes` and is not yet enough for another message. */
  #parts: Buffer[] = [];
  #missing = 0;

  /** @param maxMessageBytes a longer message is refused as soon as its header is there. */
  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Where the message begins that `next` found, and where it ends. */
  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#at;
  }

  feed(chunk: Buffer): void {
    this.#missing -= chunk.length;
    if (this.#missing > 0) {
      this.#parts.push(chunk);
      return;
    }
    const rest = this.#bytes.subarray(this.#at);
    const isWhole = rest.length === 0 && this.#parts.length === 0;
    this.#bytes = isWhole ? chunk : Buffer.concat([rest, ...this.#parts, chunk]);
    this.#parts = [];
    this.#at = 0;
  }

  /**
   * Goes to the next message; false where more bytes are needed.
   * @throws CoreError ERR_API_MESSAGE_TOO_LARGE for a message over the limit, ERR_API_PROTOCOL for a
   * compressed one (no encoding was offered)
   */
  next(): boolean {
    if (this.#parts.length > 0) return false;
    const left = this.#bytes.length - this.#at;
    if (left < FRAME_HEADER_BYTES) {
      if (left === 0) this.#letGo();
      this.#missing = FRAME_HEADER_BYTES - left;
      return false;
    }
    const size = FRAME_HEADER_BYTES + this.#messageLength();
    if (left < size) {
      this.#missing = size - left;
      return false;
    }
    this.#start = this.#at + FRAME_HEADER_BYTES;
    this.#at += size;
    return true;
  }

  /** What was read may be a small part of memory that is kept for as long as it is. */
  #letGo(): void {
    this.#bytes = NO_BYTES;
    this.#at = 0;
  }

  #messageLength(): number {
    const flag = this.#bytes[this.#at];
    if (flag !== 0) {
      throw new CoreError(
        "ERR_API_PROTOCOL",
        `gRPC frame flag ${flag} is not supported; expected 0, an uncompressed message`,
      );
    }
    const length = this.#bytes.readUInt32BE(this.#at + 1);
    if (length > this.#maxMessageBytes) {
      throw new CoreError(
        "ERR_API_MESSAGE_TOO_LARGE",
        `gRPC message of ${length} bytes is too large; expected at most ${this.#maxMessageBytes}`,
      );
    }
    return length;
  }
}
