import { CoreError } from "../../core/errors.ts";

const LINE_FEED = 0x0a;

/** Cuts a stream of bytes into lines; only what belongs to an unfinished line is kept. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that `chunk` ends; empty ones are left out. @throws CoreError ERR_API_PROTOCOL */
  *feed(chunk: Uint8Array): Generator<string> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      this.#add(chunk.subarray(start, end < 0 ? chunk.length : end));
      if (end < 0) return;
      start = end + 1;
      const line = this.#take();
      if (line !== "") yield line;
    }
  }

  #add(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxLineBytes) {
      throw new CoreError(
        "ERR_API_PROTOCOL",
        `the Kubernetes API sent a line of more than ${this.#maxLineBytes} bytes`,
      );
    }
    if (part.length > 0) this.#parts.push(part);
  }

  #take(): string {
    const [first] = this.#parts;
    const whole =
      this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return Buffer.from(whole.buffer, whole.byteOffset, whole.length).toString("utf8").trim();
  }
}
