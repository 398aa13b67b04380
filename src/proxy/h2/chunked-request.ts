import type { ByteSink } from "../../wire/http2/output-buffer.ts";

/** Of a body so much is written at once; the rest is kept until that is gone. */
const MAX_WAITING_BYTES = 49_152;
const LINE_END = "\r\n";
const LAST_SIZE = "0\r\n";

/** Writes a request in HTTP/1.1: its head, and its body in chunks where its length was not said. */
export class ChunkedRequest {
  readonly #sink: ByteSink;
  readonly #isChunked: boolean;
  #kept: Buffer[] = [];
  #isEnded = false;
  #trailers = "";
  #isEndWritten = false;

  constructor(sink: ByteSink, isChunked: boolean) {
    this.#sink = sink;
    this.#isChunked = isChunked;
  }

  /** Whether all of it has left. */
  get isSent(): boolean {
    return this.#isEndWritten && this.#sink.size === 0;
  }

  head(bytes: Buffer): void {
    this.#raw(bytes);
  }

  /** Takes all of it; how much was written. */
  send(bytes: Buffer, start: number, end: number): number {
    if (start === end) return 0;
    if (this.#kept.length === 0 && this.#sink.size < MAX_WAITING_BYTES) {
      this.#write(bytes, start, end);
      return end - start;
    }
    this.#kept.push(Buffer.from(bytes.subarray(start, end)));
    return 0;
  }

  /** @param trailers their lines; they are dropped where the body is not in chunks. */
  end(trailers = ""): void {
    this.#isEnded = true;
    this.#trailers = trailers;
    this.#writeEnd();
  }

  /** Writes of what is kept: how many bytes. */
  refill(): number {
    let written = 0;
    while (this.#sink.size < MAX_WAITING_BYTES) {
      const next = this.#kept.shift();
      if (next === undefined) break;
      this.#write(next, 0, next.length);
      written += next.length;
    }
    this.#writeEnd();
    return written;
  }

  #write(bytes: Buffer, start: number, end: number): void {
    if (this.#isChunked) this.#text(`${(end - start).toString(16)}${LINE_END}`);
    const at = this.#sink.extend(end - start);
    bytes.copy(this.#sink.bytes, at, start, end);
    if (this.#isChunked) this.#text(LINE_END);
  }

  #writeEnd(): void {
    if (!this.#isEnded || this.#isEndWritten || this.#kept.length > 0) return;
    this.#isEndWritten = true;
    if (this.#isChunked) this.#text(`${LAST_SIZE}${this.#trailers}${LINE_END}`);
  }

  #raw(bytes: Buffer): void {
    const at = this.#sink.extend(bytes.length);
    bytes.copy(this.#sink.bytes, at);
  }

  #text(text: string): void {
    const at = this.#sink.extend(text.length);
    this.#sink.bytes.write(text, at, "latin1");
  }
}
