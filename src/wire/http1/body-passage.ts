import type { BodyFraming } from "./body-framing.ts";
import { ChunkScanner } from "./chunk-scanner.ts";
import type { HttpProblem } from "./http-problem.ts";
import { DEFAULT_HTTP1_LIMITS, type Http1Limits } from "./http1-limits.ts";

/**
 * Follows a body through the proxy, which passes it on as it came. Bytes that were read are shown to
 * `pass`; `blindBytes` of the ones after them may be spliced instead, and told to `moved`.
 */
export class BodyPassage {
  readonly #chunks: ChunkScanner;
  #isChunked = false;
  /** Of a body that is not chunked; without end where the connection ends it. */
  #left = 0;

  constructor(limits: Http1Limits = DEFAULT_HTTP1_LIMITS) {
    this.#chunks = new ChunkScanner(limits.maxChunkOverheadBytes);
  }

  /** The body of another message begins. */
  begin(framing: BodyFraming): void {
    this.#isChunked = framing.kind === "chunked";
    if (this.#isChunked) this.#chunks.reset();
    this.#left = lengthOf(framing);
  }

  /** Whether the body is complete. One that ends with the connection never is. */
  get isDone(): boolean {
    return this.#isChunked ? this.#chunks.isDone : this.#left === 0;
  }

  /** Whether nothing is missing where the connection ends here. */
  get mayEndHere(): boolean {
    return this.isDone || this.#left === Number.POSITIVE_INFINITY;
  }

  /** How many of the next bytes surely belong to the body and need not be seen. */
  get blindBytes(): number {
    return this.#isChunked ? this.#chunks.dataLeft : this.#left;
  }

  /** So many bytes have passed unseen, `blindBytes` at most. */
  moved(count: number): void {
    if (this.#isChunked) this.#chunks.skipData(count);
    else this.#left -= count;
  }

  /** Where the bytes that belong to the body end, all of which are to be passed on. */
  pass(bytes: Uint8Array, start: number, end: number): number | HttpProblem {
    if (this.#isChunked) return this.#chunks.scan(bytes, start, end);
    const count = Math.min(this.#left, end - start);
    this.#left -= count;
    return start + count;
  }
}

function lengthOf(framing: BodyFraming): number {
  switch (framing.kind) {
    case "none":
    case "chunked":
      return 0;
    case "length":
      return framing.bytes;
    case "until-close":
    case "tunnel":
      return Number.POSITIVE_INFINITY;
  }
}
