import { PREFACE } from "./protocol.ts";

/** What a client says before its first frame; servers say nothing. */
export class PrefaceReader {
  #left: number;

  constructor(isExpected: boolean) {
    this.#left = isExpected ? PREFACE.length : 0;
  }

  /** Where the frames begin; negative where it is no preface. */
  read(bytes: Buffer, start: number, end: number): number {
    let at = start;
    for (; this.#left > 0 && at < end; at++) {
      if (bytes[at] !== PREFACE[PREFACE.length - this.#left]) return -1;
      this.#left -= 1;
    }
    return at;
  }
}
