const FIRST_CAPACITY = 4096;

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

  /** A text of characters below 256. */
  text(text: string): void {
    this.#reserve(text.length);
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
