import type { BodyFraming } from "../../wire/http1/body-framing.ts";
import { BodyPassage } from "../../wire/http1/body-passage.ts";

const MALFORMED = -1;

/** Takes the body of a response of HTTP/1 out of its framing. Trailers are dropped. */
export class Http1Body {
  readonly #passage = new BodyPassage();
  #isChunked = false;

  begin(framing: BodyFraming): void {
    this.#isChunked = framing.kind === "chunked";
    this.#passage.begin(framing);
  }

  get isDone(): boolean {
    return this.#passage.isDone;
  }

  /** Whether nothing is missing where the connection ends here. */
  get mayEndHere(): boolean {
    return this.#passage.mayEndHere;
  }

  /** Shows the data in `bytes`: how many of them are used up; -1 where it is malformed. */
  take(bytes: Buffer, show: (start: number, end: number) => void): number {
    let at = 0;
    while (at < bytes.length && !this.#passage.isDone) {
      const count = Math.min(this.#passage.blindBytes, bytes.length - at);
      if (count > 0) {
        this.#passage.moved(count);
        show(at, at + count);
        at += count;
      } else if (this.#isChunked && typeof this.#passage.pass(bytes, at, at + 1) === "number") {
        at += 1;
      } else {
        return MALFORMED;
      }
    }
    return at;
  }
}
