import { DynamicTable } from "./dynamic-table.ts";
import type { FieldList } from "./field-list.ts";
import type { FieldName } from "./field-name.ts";
import { HeaderField } from "./header-field.ts";
import { decodeHuffman, maxHuffmanTextBytes } from "./huffman.ts";
import { fieldName, STATIC_FIELDS } from "./static-table.ts";

const INDEXED = 0x80;
const INDEXED_BITS = 7;
const LITERAL_INDEXED = 0x40;
const LITERAL_INDEXED_BITS = 6;
const TABLE_SIZE = 0x20;
const TABLE_SIZE_BITS = 5;
const NEVER_INDEXED = 0x10;
const LITERAL_BITS = 4;
const HUFFMAN = 0x80;
const STRING_BITS = 7;
const MALFORMED = -1;
/** Of the bytes after the first one of an integer: nobody needs more, and more could overflow. */
const MAX_INTEGER_SHIFT = 21;

/** Reads the header blocks of one connection, in their order (RFC 7541). */
export class HpackDecoder {
  readonly #table: DynamicTable;
  readonly #maxTableBytes: number;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;

  /** @param maxTableBytes what the other side was told; a larger table is refused. */
  constructor(maxTableBytes: number) {
    this.#maxTableBytes = maxTableBytes;
    this.#table = new DynamicTable(maxTableBytes);
  }

  /** False where it is malformed: then the connection can not go on. */
  decode(bytes: Buffer, start: number, end: number, list: FieldList): boolean {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    if (!this.#readTableSizes()) return false;
    while (this.#at < end) {
      const field = this.#readField();
      if (field === undefined) return false;
      list.add(field);
    }
    return true;
  }

  /** Only at the beginning of a block. */
  #readTableSizes(): boolean {
    while (this.#at < this.#end && ((this.#bytes[this.#at] ?? 0) & 0xe0) === TABLE_SIZE) {
      const size = this.#readInteger(TABLE_SIZE_BITS);
      if (size === MALFORMED || size > this.#maxTableBytes) return false;
      this.#table.setMaxSize(size);
    }
    return true;
  }

  #readField(): HeaderField | undefined {
    const first = this.#bytes[this.#at] ?? 0;
    if ((first & INDEXED) !== 0) return this.#fieldAt(this.#readInteger(INDEXED_BITS));
    if ((first & LITERAL_INDEXED) !== 0) {
      const field = this.#readLiteral(LITERAL_INDEXED_BITS, false);
      if (field !== undefined) this.#table.add(field);
      return field;
    }
    if ((first & TABLE_SIZE) !== 0) return undefined;
    return this.#readLiteral(LITERAL_BITS, (first & NEVER_INDEXED) !== 0);
  }

  #fieldAt(index: number): HeaderField | undefined {
    if (index <= 0) return undefined;
    return STATIC_FIELDS[index - 1] ?? this.#table.get(index - 1 - STATIC_FIELDS.length);
  }

  #readLiteral(prefixBits: number, isSecret: boolean): HeaderField | undefined {
    const index = this.#readInteger(prefixBits);
    if (index === MALFORMED) return undefined;
    const name = index === 0 ? this.#readName() : this.#fieldAt(index)?.name;
    const value = name && this.#readString();
    if (name === undefined || value === undefined) return undefined;
    return new HeaderField(name, value, isSecret ? { isSecret } : {});
  }

  #readName(): FieldName | undefined {
    const text = this.#readString();
    return text === undefined ? undefined : fieldName(text);
  }

  #readString(): string | undefined {
    const isHuffman = ((this.#bytes[this.#at] ?? 0) & HUFFMAN) !== 0;
    const length = this.#readInteger(STRING_BITS);
    const start = this.#at;
    const end = start + length;
    if (length === MALFORMED || end > this.#end) return undefined;
    this.#at = end;
    if (!isHuffman) return this.#bytes.toString("latin1", start, end);
    const text = Buffer.allocUnsafe(maxHuffmanTextBytes(length));
    const textLength = decodeHuffman(this.#bytes, start, end, text);
    return textLength === MALFORMED ? undefined : text.toString("latin1", 0, textLength);
  }

  /** With the first bits in a byte that holds something else, too. */
  #readInteger(prefixBits: number): number {
    if (this.#at >= this.#end) return MALFORMED;
    const mask = (1 << prefixBits) - 1;
    let value = (this.#bytes[this.#at++] ?? 0) & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= MAX_INTEGER_SHIFT; shift += 7) {
      if (this.#at >= this.#end) return MALFORMED;
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return MALFORMED;
  }
}
