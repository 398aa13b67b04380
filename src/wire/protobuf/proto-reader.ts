import { CoreError } from "../../core/errors.ts";
import { WIRE_BYTES, WIRE_FIXED32, WIRE_FIXED64, WIRE_VARINT } from "./proto-writer.ts";

const ASCII_LIMIT = 0x80;
const VARINT_MAX_BYTES = 10;

/**
 * Reads protobuf from bytes that nobody vouches for: never past the end of a message or of the message
 * it is nested in. Typical use:
 *
 *     for (let field = reader.next(); field !== 0; field = reader.next()) {
 *       if (field === 1) name = reader.string();
 *       else reader.skip();
 *     }
 */
export class ProtoReader {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;
  #wireType = 0;
  /** The message as text, made once: to cut strings from it is much quicker than to decode each. */
  #text: string | undefined;
  #textStart = 0;
  #textEnd = 0;

  /** Begins to read anew, from `start` to `end` of `bytes`. */
  reset(bytes: Buffer, start = 0, end: number = bytes.length): this {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#text = undefined;
    this.#textStart = start;
    this.#textEnd = end;
    return this;
  }

  /** Begins to read another part of the same bytes. */
  window(start: number, end: number): this {
    this.#at = start;
    this.#end = end;
    return this;
  }

  /** Where in the bytes it stands. */
  get position(): number {
    return this.#at;
  }

  /** The number of the next field, whose value must then be read or skipped; 0 at the end. */
  next(): number {
    if (this.#at >= this.#end) return 0;
    const tag = this.#varint();
    this.#wireType = tag & 7;
    const field = tag >>> 3;
    if (field === 0) throw malformed("a field number 0");
    return field;
  }

  /** The low 32 bits of a number, unsigned. */
  uint32(): number {
    this.#expect(WIRE_VARINT);
    return this.#varint();
  }

  int32(): number {
    return this.uint32() | 0;
  }

  /** All 64 bits of a number, signed. */
  int64(): bigint {
    this.#expect(WIRE_VARINT);
    const [low, high] = this.#halves();
    return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low));
  }

  /** A 64-bit number that is known to be one that can be counted with. */
  count(): number {
    this.#expect(WIRE_VARINT);
    const [low, high] = this.#halves();
    const value = high * 2 ** 32 + low;
    if (!Number.isSafeInteger(value)) throw malformed(`a number of ${value}`);
    return value;
  }

  bool(): boolean {
    return this.uint32() !== 0;
  }

  string(): string {
    const length = this.#length();
    const start = this.#at;
    const end = start + length;
    this.#at = end;
    const bytes = this.#bytes;
    for (let at = start; at < end; at++) {
      if ((bytes[at] ?? 0) >= ASCII_LIMIT) return this.#utf8(start, end);
    }
    this.#text ??= bytes.toString("latin1", this.#textStart, this.#textEnd);
    return this.#text.slice(start - this.#textStart, end - this.#textStart);
  }

  /** Not a copy: valid as long as what it was read from. */
  bytes(): Buffer {
    const length = this.#length();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** What is left of the current message, as text. */
  restAsText(): string {
    const start = this.#at;
    this.#at = this.#end;
    return this.#utf8(start, this.#end);
  }

  /** Appends the numbers of a repeated field, packed or not. */
  numbersInto(into: number[]): void {
    if (this.#wireType === WIRE_VARINT) {
      into.push(this.#varint());
      return;
    }
    const outer = this.enter();
    while (this.#at < this.#end) into.push(this.#varint());
    this.leave(outer);
  }

  /** Reads one entry of a map into `into`. */
  entryInto(into: Map<string, string>): void {
    const outer = this.enter();
    let key = "";
    let value = "";
    for (let field = this.next(); field !== 0; field = this.next()) {
      if (field === 1) key = this.string();
      else if (field === 2) value = this.string();
      else this.skip();
    }
    this.leave(outer);
    into.set(key, value);
  }

  /** Goes into a nested message: `next` ends at its end. What it returns is for `leave`. */
  enter(): number {
    const length = this.#length();
    const outer = this.#end;
    this.#end = this.#at + length;
    return outer;
  }

  leave(outer: number): void {
    this.#at = this.#end;
    this.#end = outer;
  }

  /** Passes over a value that is not known here. */
  skip(): void {
    switch (this.#wireType) {
      case WIRE_VARINT:
        this.#varint();
        return;
      case WIRE_FIXED64:
        this.#advance(8);
        return;
      case WIRE_BYTES:
        this.#advance(this.#length());
        return;
      case WIRE_FIXED32:
        this.#advance(4);
        return;
      default:
        throw malformed(`wire type ${this.#wireType}`);
    }
  }

  #utf8(start: number, end: number): string {
    return this.#bytes.toString("utf8", start, end);
  }

  #length(): number {
    this.#expect(WIRE_BYTES);
    const length = this.#varint();
    if (length > this.#end - this.#at) {
      throw malformed(`a length of ${length} where ${this.#end - this.#at} bytes are left`);
    }
    return length;
  }

  #advance(count: number): void {
    if (count > this.#end - this.#at) throw malformed("a value that is cut off");
    this.#at += count;
  }

  #varint(): number {
    const bytes = this.#bytes;
    let value = 0;
    for (let index = 0; index < VARINT_MAX_BYTES; index++) {
      if (this.#at >= this.#end) throw malformed("a number that is cut off");
      const byte = bytes[this.#at++] ?? 0;
      if (index < 5) value |= (byte & 0x7f) << (index * 7);
      if (byte < 0x80) return value >>> 0;
    }
    throw malformed(`a number of more than ${VARINT_MAX_BYTES} bytes`);
  }

  /** The low and the high 32 bits of a number, unsigned. */
  #halves(): readonly [number, number] {
    const bytes = this.#bytes;
    let low = 0;
    let high = 0;
    for (let index = 0; index < VARINT_MAX_BYTES; index++) {
      if (this.#at >= this.#end) throw malformed("a number that is cut off");
      const byte = bytes[this.#at++] ?? 0;
      const bits = byte & 0x7f;
      if (index < 4) low |= bits << (index * 7);
      else if (index > 4) high |= bits << (index * 7 - 32);
      else {
        low |= bits << 28;
        high = bits >>> 4;
      }
      if (byte < 0x80) return [low >>> 0, high >>> 0];
    }
    throw malformed(`a number of more than ${VARINT_MAX_BYTES} bytes`);
  }

  #expect(wireType: number): void {
    if (this.#wireType !== wireType) {
      throw malformed(`wire type ${this.#wireType} where ${wireType} belongs`);
    }
  }
}

function malformed(what: string): CoreError {
  return new CoreError("ERR_API_PROTOCOL", `malformed protobuf message: ${what}`);
}
