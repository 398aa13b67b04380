import type { FieldName } from "./field-name.ts";
import type { HeaderField } from "./header-field.ts";

const FIRST_CAPACITY = 1024;
const INDEXED = 0x80;
const LITERAL = 0x00;
const NEVER_INDEXED = 0x10;
const LITERAL_BITS = 4;
const STRING_BITS = 7;
/** Below it copying characters one by one is faster than asking the system to. */
const SHORT_TEXT = 24;
/** Of an integer that follows its prefix: far more than any text here has bytes. */
const MAX_INTEGER_BYTES = 6;

/** Says that the table is empty from now on. It has to begin the first block of a connection. */
export const EMPTY_TABLE = 0x20;

/**
 * Writes header blocks that use the static table only: such a block means the same on every connection
 * and at any time, so that it can be made before it is known where it goes to. Used again for each
 * block: what it gave is good until `reset`.
 */
export class HeaderBlockWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  #length = 0;

  reset(): void {
    this.#length = 0;
  }

  /** A view of what was written. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  field(field: HeaderField): void {
    if (field.staticIndex !== 0 && field.staticIndex < INDEXED - 1) {
      this.#reserve(1);
      this.#buffer[this.#length++] = INDEXED | field.staticIndex;
      return;
    }
    this.literal(field.name, field.value, field.isSecret ? NEVER_INDEXED : LITERAL);
  }

  literal(name: FieldName, value: string, kind: number = LITERAL): void {
    this.#reserve(name.text.length + value.length + 3 * MAX_INTEGER_BYTES);
    this.#integer(kind, LITERAL_BITS, name.staticIndex);
    if (name.staticIndex === 0) this.#text(name.text);
    this.#text(value);
  }

  #text(text: string): void {
    this.#integer(0, STRING_BITS, text.length);
    if (text.length >= SHORT_TEXT) {
      this.#length += this.#buffer.write(text, this.#length, "latin1");
      return;
    }
    for (let at = 0; at < text.length; at++) {
      this.#buffer[this.#length++] = text.charCodeAt(at);
    }
  }

  #integer(first: number, prefixBits: number, value: number): void {
    const mask = (1 << prefixBits) - 1;
    if (value < mask) {
      this.#buffer[this.#length++] = first | value;
      return;
    }
    this.#buffer[this.#length++] = first | mask;
    let left = value - mask;
    for (; left >= 0x80; left >>>= 7) this.#buffer[this.#length++] = (left & 0x7f) | 0x80;
    this.#buffer[this.#length++] = left;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
