import type { BodyFraming } from "../../wire/http1/body-framing.ts";
import { BodyPassage } from "../../wire/http1/body-passage.ts";
import type { HeaderField } from "../../wire/http2/hpack/header-field.ts";
import { readTrailerLines } from "./trailer-fields.ts";

const MALFORMED = -1;
/** Also a size may be written with zeros without end. */
const MAX_OVERHEAD_BYTES = 65_536;

/** Takes the body of a response of HTTP/1 out of its framing. */
export class Http1Body {
  readonly #passage = new BodyPassage();
  #isChunked = false;
  /** What came after the last data that was shown. */
  #overhead = "";

  begin(framing: BodyFraming): void {
    this.#isChunked = framing.kind === "chunked";
    this.#overhead = "";
    this.#passage.begin(framing);
  }

  get isDone(): boolean {
    return this.#passage.isDone;
  }

  /** Whether nothing is missing where the connection ends here. */
  get mayEndHere(): boolean {
    return this.#passage.mayEndHere;
  }

  /** What followed the data, where it is done. */
  trailers(): readonly HeaderField[] {
    return this.#isChunked && this.isDone ? readTrailerLines(this.#overhead) : [];
  }

  /** Shows the data in `bytes`: how many of them are used up; -1 where it is malformed. */
  take(bytes: Buffer, show: (start: number, end: number) => void): number {
    let at = 0;
    while (at < bytes.length && !this.#passage.isDone) {
      const count = Math.min(this.#passage.blindBytes, bytes.length - at);
      if (count > 0) {
        this.#passage.moved(count);
        this.#overhead = "";
        show(at, at + count);
        at += count;
      } else if (this.#isChunked && typeof this.#passage.pass(bytes, at, at + 1) === "number") {
        this.#overhead += String.fromCharCode(bytes[at] ?? 0);
        if (this.#overhead.length > MAX_OVERHEAD_BYTES) return MALFORMED;
        at += 1;
      } else {
        return MALFORMED;
      }
    }
    return at;
  }
}
