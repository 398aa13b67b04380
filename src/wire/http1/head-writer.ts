const FIRST_CAPACITY = 1024;
/** Up to so many characters are written faster here than by a call. */
const SHORT_TEXT = 80;

/** Gathers the bytes of a head. Used again for each: what it gave is good until `reset`. */
export class HeadWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  #length = 0;

  reset(): void {
    this.#length = 0;
  }

  /** A view of what was written. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** What was written, to be kept. */
  copied(): Buffer {
    const copy = Buffer.allocUnsafe(this.#length);
    this.#buffer.copy(copy, 0, 0, this.#length);
    return copy;
  }

  /** A text of characters below 256. */
  text(text: string): void {
    const { length } = text;
    this.#reserve(length);
    if (length <= SHORT_TEXT) {
      for (let at = 0; at < length; at++) this.#buffer[this.#length + at] = text.charCodeAt(at);
      this.#length += length;
      return;
    }
    this.#length += this.#buffer.write(text, this.#length, "latin1");
  }

  copy(bytes: Buffer, start: number, end: number): void {
    if (end <= start) return;
    this.#reserve(end - start);
    this.#length += bytes.copy(this.#buffer, this.#length, start, end);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
