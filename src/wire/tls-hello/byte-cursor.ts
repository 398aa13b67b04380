/** Walks over a structure of fields with lengths before them; past its end everything is undefined. */
export class ByteCursor {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  /** A whole number of 1 or 2 bytes. */
  uint(width: 1 | 2): number | undefined {
    if (this.left < width) return undefined;
    const value = this.#bytes.readUIntBE(this.#at, width);
    this.#at += width;
    return value;
  }

  skip(count: number): boolean {
    if (this.left < count) return false;
    this.#at += count;
    return true;
  }

  /** What follows a length of 1 or 2 bytes. */
  vector(width: 1 | 2): ByteCursor | undefined {
    const length = this.uint(width);
    if (length === undefined || this.left < length) return undefined;
    const inner = new ByteCursor(this.#bytes, this.#at, this.#at + length);
    this.#at += length;
    return inner;
  }

  /** All that is left, a character a byte. */
  text(): string {
    const text = this.#bytes.toString("latin1", this.#at, this.#end);
    this.#at = this.#end;
    return text;
  }
}
