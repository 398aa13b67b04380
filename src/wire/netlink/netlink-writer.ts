import {
  ALIGNMENT,
  ATTRIBUTE_HEADER_BYTES,
  aligned,
  FLAGS_AT,
  HEADER_BYTES,
  NLA_F_NESTED,
  SEQUENCE_AT,
  TYPE_AT,
} from "./netlink-words.ts";

const INITIAL_BYTES = 1024;
const MAX_KEPT_BYTES = 1_048_576;
const ENCODER = new TextEncoder();

/** What a message begins with. */
export interface MessageStart {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
}

/**
 * Writes messages one behind the other: several make a batch that is sent as one datagram.
 *
 *     writer.message({ type, flags, sequence }, () => {
 *       writer.header([family, version, 0, 0]);
 *       writer.nested(TUPLE, () => writer.bytes(ADDRESS, ip));
 *     });
 */
export class NetlinkWriter {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** All that was written; valid until the next write. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Forgets what was written and keeps the memory, unless that is much. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > MAX_KEPT_BYTES) this.#take(new Uint8Array(INITIAL_BYTES));
  }

  message({ type, flags, sequence }: MessageStart, write: () => void): void {
    const at = this.#reserve(HEADER_BYTES);
    write();
    const view = this.#view;
    view.setUint32(at, this.#length - at, true);
    view.setUint16(at + TYPE_AT, type, true);
    view.setUint16(at + FLAGS_AT, flags, true);
    view.setUint32(at + SEQUENCE_AT, sequence, true);
  }

  /** What a family puts between the message's header and its attributes, such as nfgenmsg. */
  header(bytes: ArrayLike<number>): void {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  bytes(type: number, value: ArrayLike<number>): void {
    const at = this.#attribute(type, value.length);
    this.#bytes.set(value, at);
  }

  /** Room of zeros for a value that the caller writes into `memory`; returns where. */
  place(type: number, byteCount: number): number {
    const at = this.#attribute(type, byteCount);
    this.#bytes.fill(0, at, at + byteCount);
    return at;
  }

  /** Where all that is written stands, up to the next write. */
  get memory(): Uint8Array {
    return this.#bytes;
  }

  /** What was written by another one, as it is. */
  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  u8(type: number, value: number): void {
    const at = this.#attribute(type, 1);
    this.#view.setUint8(at, value);
  }

  u16(type: number, value: number): void {
    const at = this.#attribute(type, 2);
    this.#view.setUint16(at, value, true);
  }

  u32(type: number, value: number): void {
    const at = this.#attribute(type, 4);
    this.#view.setUint32(at, value, true);
  }

  /** In network byte order. */
  be16(type: number, value: number): void {
    const at = this.#attribute(type, 2);
    this.#view.setUint16(at, value, false);
  }

  /** In network byte order. */
  be32(type: number, value: number): void {
    const at = this.#attribute(type, 4);
    this.#view.setUint32(at, value, false);
  }

  /** In network byte order. */
  be64(type: number, value: bigint): void {
    const at = this.#attribute(type, 8);
    this.#view.setBigUint64(at, value, false);
  }

  /** Ends with a zero byte, as the kernel wants it. */
  text(type: number, value: string): void {
    this.bytes(type, ENCODER.encode(`${value}\0`));
  }

  nested(type: number, write: () => void): void {
    const at = this.begin(type);
    write();
    this.end(at);
  }

  /** As `nested`, for what is written very often: `end` is told what this returns. */
  begin(type: number): number {
    const at = this.#reserve(ATTRIBUTE_HEADER_BYTES);
    this.#view.setUint16(at + 2, type | NLA_F_NESTED, true);
    return at;
  }

  end(at: number): void {
    this.#view.setUint16(at, this.#length - at, true);
  }

  /** Room for an attribute and its padding; returns where its value goes. */
  #attribute(type: number, byteCount: number): number {
    const at = this.#reserve(ATTRIBUTE_HEADER_BYTES + byteCount);
    this.#view.setUint16(at, ATTRIBUTE_HEADER_BYTES + byteCount, true);
    this.#view.setUint16(at + 2, type, true);
    return at + ATTRIBUTE_HEADER_BYTES;
  }

  /** Its last word is zeroed, so that padding never shows what stood there before. */
  #reserve(byteCount: number): number {
    const at = this.#length;
    const end = at + aligned(byteCount);
    if (end > this.#bytes.length) this.#grow(end);
    if (end > at) this.#view.setUint32(end - ALIGNMENT, 0);
    this.#length = end;
    return at;
  }

  #grow(byteCount: number): void {
    const bytes = new Uint8Array(Math.max(byteCount, 2 * this.#bytes.length));
    bytes.set(this.#bytes);
    this.#take(bytes);
  }

  #take(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}
