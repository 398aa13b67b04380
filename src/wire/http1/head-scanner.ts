import { CR, LF } from "./characters.ts";
import { type HttpProblem, PROBLEMS } from "./http-problem.ts";

/** The head is not complete. */
export const MORE = -1;

const HEAD_END = Buffer.from("\r\n\r\n", "latin1");
const EMPTY_LINE_BYTES = 2;

/**
 * Finds where a head ends, remembering how far it has looked: bytes that come one by one cost no more
 * than those that come together.
 */
export class HeadScanner {
  readonly #maxBytes: number;
  /** From the start of the head. */
  #scanned = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** To be called before the next head. */
  reset(): void {
    this.#scanned = 0;
  }

  /**
   * Where the head in `bytes` ends, after its empty line; `MORE` where it does not yet. Between two
   * calls more bytes may have come, and all of them may have moved.
   */
  scan(bytes: Buffer, start: number, end: number): number | HttpProblem {
    const headEnd = this.#find(bytes, start, end);
    if (headEnd === MORE && this.#meetsBareLineFeed(bytes, start, end))
      return PROBLEMS.bareLineFeed;
    this.#scanned = end - start;
    const bytesSeen = headEnd === MORE ? this.#scanned : headEnd - start;
    return bytesSeen > this.#maxBytes ? PROBLEMS.headTooLarge : headEnd;
  }

  #find(bytes: Buffer, start: number, end: number): number {
    const isEmpty = bytes[start] === CR && bytes[start + 1] === LF;
    if (isEmpty && end - start >= EMPTY_LINE_BYTES) return start + EMPTY_LINE_BYTES;
    const from = start + Math.max(0, this.#scanned - HEAD_END.length + 1);
    const found = bytes.indexOf(HEAD_END, from);
    return found < 0 || found + HEAD_END.length > end ? MORE : found + HEAD_END.length;
  }

  /** Whoever ends lines with LF alone would be waited for in vain. */
  #meetsBareLineFeed(bytes: Buffer, start: number, end: number): boolean {
    for (let at = start + this.#scanned; at < end; at++) {
      if (bytes[at] === LF && (at === start || bytes[at - 1] !== CR)) return true;
    }
    return false;
  }
}
