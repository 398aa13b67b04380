import { createHash, timingSafeEqual } from "node:crypto";

/** The secret of a controller; kept and compared as its hash, in a time that tells nothing. */
export class Password {
  readonly #digest: Buffer;

  constructor(text: string) {
    this.#digest = digestOf(text);
  }

  isRight(given: string): boolean {
    return timingSafeEqual(digestOf(given), this.#digest);
  }
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
