import { COLON, CR, isOf, LF, SEMICOLON, TEXT, TOKEN } from "./characters.ts";
import { type HttpProblem, PROBLEMS } from "./http-problem.ts";

/** What the next byte of a chunked body is (RFC 9112 section 7.1). */
type State =
  | "size-start"
  | "size"
  | "extension"
  | "size-end"
  | "data"
  | "data-cr"
  | "data-end"
  | "trailer-start"
  | "trailer-name"
  | "trailer-value"
  | "trailer-end"
  | "body-end"
  | "done";

const MAX_CHUNK_BYTES = 2 ** 52;
const NO_DIGIT = -1;

/**
 * Walks over a chunked body to find its end, changing nothing. The data of a chunk is not looked at,
 * so that it may be moved without ever being read.
 */
export class ChunkScanner {
  readonly #maxOverheadBytes: number;
  #state: State = "size-start";
  #size = 0;
  #dataLeft = 0;
  #overheadBytes = 0;

  constructor(maxOverheadBytes: number) {
    this.#maxOverheadBytes = maxOverheadBytes;
  }

  reset(): void {
    this.#state = "size-start";
    this.#size = 0;
    this.#dataLeft = 0;
    this.#overheadBytes = 0;
  }

  get isDone(): boolean {
    return this.#state === "done";
  }

  /** How many of the next bytes are data that need not be seen. */
  get dataLeft(): number {
    return this.#dataLeft;
  }

  /** So many bytes of data have passed unseen, `dataLeft` at most. */
  skipData(count: number): void {
    this.#dataLeft -= count;
    if (this.#dataLeft === 0) this.#state = "data-cr";
  }

  /** Where the bytes that belong to the body end: at `end`, or before it where the body does. */
  scan(bytes: Uint8Array, start: number, end: number): number | HttpProblem {
    let at = start;
    while (at < end && this.#state !== "done") {
      if (this.#dataLeft > 0) {
        const count = Math.min(this.#dataLeft, end - at);
        this.skipData(count);
        at += count;
        continue;
      }
      const problem = this.#step(bytes[at] ?? 0);
      if (problem !== undefined) return problem;
      at += 1;
    }
    return at;
  }

  #step(byte: number): HttpProblem | undefined {
    switch (this.#state) {
      case "size-start":
      case "size":
        return this.#stepSize(byte);
      case "extension":
        return this.#stepText(byte, "size-end", PROBLEMS.chunkExtension);
      case "size-end":
        return byte === LF ? this.#beginData() : PROBLEMS.chunkSize;
      case "data":
      case "data-cr":
        return byte === CR ? this.#become("data-end") : PROBLEMS.chunkEnd;
      case "data-end":
        return byte === LF ? this.#become("size-start") : PROBLEMS.chunkEnd;
      case "body-end":
        return byte === LF ? this.#become("done") : PROBLEMS.trailer;
      default:
        return this.#stepTrailer(byte);
    }
  }

  #stepSize(byte: number): HttpProblem | undefined {
    const digit = hexDigit(byte);
    if (digit !== NO_DIGIT) {
      this.#size = this.#size * 16 + digit;
      return this.#size > MAX_CHUNK_BYTES ? PROBLEMS.chunkTooLarge : this.#become("size");
    }
    if (this.#state === "size-start") return PROBLEMS.chunkSize;
    if (byte === CR) return this.#become("size-end");
    return byte === SEMICOLON ? this.#become("extension") : PROBLEMS.chunkSize;
  }

  #beginData(): undefined {
    this.#dataLeft = this.#size;
    this.#state = this.#size === 0 ? "trailer-start" : "data";
    this.#size = 0;
  }

  #stepTrailer(byte: number): HttpProblem | undefined {
    switch (this.#state) {
      case "trailer-start":
        if (byte === CR) return this.#become("body-end");
        return isOf(byte, TOKEN) ? this.#count("trailer-name") : PROBLEMS.trailer;
      case "trailer-name":
        if (byte === COLON) return this.#become("trailer-value");
        return isOf(byte, TOKEN) ? this.#count("trailer-name") : PROBLEMS.trailer;
      case "trailer-value":
        return this.#stepText(byte, "trailer-end", PROBLEMS.trailer);
      default:
        return byte === LF ? this.#become("trailer-start") : PROBLEMS.trailer;
    }
  }

  #stepText(byte: number, atEnd: State, problem: HttpProblem): HttpProblem | undefined {
    if (byte === CR) return this.#become(atEnd);
    return isOf(byte, TEXT) ? this.#count(this.#state) : problem;
  }

  #count(state: State): HttpProblem | undefined {
    this.#overheadBytes += 1;
    return this.#overheadBytes > this.#maxOverheadBytes
      ? PROBLEMS.chunkOverhead
      : this.#become(state);
  }

  #become(state: State): undefined {
    this.#state = state;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : NO_DIGIT;
}
