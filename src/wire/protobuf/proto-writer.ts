import { NO_STRINGS, type StringMap } from "../../core/model/common.ts";
import { FRAME_HEADER_BYTES } from "../grpc/frame-header.ts";

const ASCII_LIMIT = 0x80;
/** Below this length a loop over the characters is quicker than a call into native code. */
const SHORT_STRING = 32;
const VARINT_MAX_BYTES = 10;
/** Of one UTF-16 code unit. */
const UTF8_MAX_BYTES = 3;

/** Kinds of values on the wire; groups are not used any more. */
export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
export const WIRE_FIXED32 = 5;

/**
 * Writes protobuf into one growing buffer. As in proto3, a value that is the default of its type is
 * left out; the `…Always` methods are for fields with explicit presence. Fields have to be written in
 * ascending order to get the deterministic form that hashes are made of.
 */
export class ProtoWriter {
  #bytes: Buffer;
  #at = 0;
  /** Where the messages begin that are not ended yet. */
  readonly #open: number[] = [];

  constructor(initialBytes = 1024) {
    this.#bytes = Buffer.allocUnsafe(initialBytes);
  }

  get length(): number {
    return this.#at;
  }

  /** What was written from `start` on. Not a copy: valid until the next write. */
  view(start = 0): Buffer {
    return this.#bytes.subarray(start, this.#at);
  }

  clear(): void {
    this.#at = 0;
    this.#open.length = 0;
  }

  /** Begins a gRPC message: a byte that says "not compressed", then the length of what follows. */
  beginFrame(): void {
    this.#ensure(FRAME_HEADER_BYTES);
    this.#bytes[this.#at] = 0;
    this.#at += FRAME_HEADER_BYTES;
    this.#open.push(this.#at);
  }

  endFrame(): void {
    const start = this.#open.pop() ?? this.#at;
    this.#bytes.writeUInt32BE(this.#at - start, start - FRAME_HEADER_BYTES + 1);
  }

  raw(bytes: Uint8Array): void {
    this.#ensure(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  bool(field: number, value: boolean): void {
    if (value) this.uint32Always(field, 1);
  }

  uint32(field: number, value: number): void {
    if (value !== 0) this.uint32Always(field, value);
  }

  uint32Always(field: number, value: number): void {
    this.#ensure(2 * VARINT_MAX_BYTES);
    this.#varint((field << 3) | WIRE_VARINT);
    this.#varint(value);
  }

  uint64(field: number, value: bigint): void {
    if (value === 0n) return;
    this.#ensure(2 * VARINT_MAX_BYTES);
    this.#varint((field << 3) | WIRE_VARINT);
    let rest = BigInt.asUintN(64, value);
    while (rest >= 0x80n) {
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#at++] = Number(rest);
  }

  bytes(field: number, value: Uint8Array): void {
    if (value.length === 0) return;
    this.#ensure(2 * VARINT_MAX_BYTES);
    this.#varint((field << 3) | WIRE_BYTES);
    this.#varint(value.length);
    this.raw(value);
  }

  string(field: number, value: string): void {
    if (value !== "") this.stringAlways(field, value);
  }

  stringAlways(field: number, value: string): void {
    if (value.length < SHORT_STRING && this.#asciiString(field, value)) return;
    this.#ensure(value.length * UTF8_MAX_BYTES + 2 * VARINT_MAX_BYTES);
    this.begin(field);
    this.#at += this.#bytes.write(value, this.#at, "utf8");
    this.end();
  }

  /** Each of them, also where one is empty. */
  strings(field: number, values: readonly string[]): void {
    for (const value of values) this.stringAlways(field, value);
  }

  /** One number of a packed field, between `begin` and `end`. */
  packedItem(value: number): void {
    this.#ensure(VARINT_MAX_BYTES);
    this.#varint(value);
  }

  /** Packed, as proto3 writes repeated numbers. */
  packed(field: number, values: readonly number[]): void {
    if (values.length === 0) return;
    this.begin(field);
    for (const value of values) this.packedItem(value);
    this.end();
  }

  /** A map, with its keys in ascending order as the deterministic form wants it. */
  map(field: number, entries: StringMap): void {
    if (entries === NO_STRINGS) return;
    for (const key of Object.keys(entries).sort()) {
      this.begin(field);
      this.string(1, key);
      this.string(2, entries[key] ?? "");
      this.end();
    }
  }

  /** Begins a nested message, up to the matching `end`. */
  begin(field: number): void {
    this.#ensure(VARINT_MAX_BYTES + 1);
    this.#varint((field << 3) | WIRE_BYTES);
    this.#at += 1;
    this.#open.push(this.#at);
  }

  /** Ends the innermost message. One byte was kept for its length; a longer message moves. */
  end(): void {
    const start = this.#open.pop() ?? this.#at;
    const length = this.#at - start;
    if (length < ASCII_LIMIT) {
      this.#bytes[start - 1] = length;
      return;
    }
    const extra = varintSize(length) - 1;
    this.#ensure(extra);
    this.#bytes.copyWithin(start + extra, start, this.#at);
    const end = this.#at + extra;
    this.#at = start - 1;
    this.#varint(length);
    this.#at = end;
  }

  /** False, with nothing written, where the string is not plain ASCII. */
  #asciiString(field: number, value: string): boolean {
    const { length } = value;
    this.#ensure(length + VARINT_MAX_BYTES + 1);
    const start = this.#at;
    this.#varint((field << 3) | WIRE_BYTES);
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at++] = length;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code >= ASCII_LIMIT) {
        this.#at = start;
        return false;
      }
      bytes[at++] = code;
    }
    this.#at = at;
    return true;
  }

  #varint(value: number): void {
    const bytes = this.#bytes;
    let rest = value >>> 0;
    while (rest >= 0x80) {
      bytes[this.#at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[this.#at++] = rest;
  }

  #ensure(count: number): void {
    const needed = this.#at + count;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) size++;
  return size;
}
