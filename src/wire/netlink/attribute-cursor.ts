import { ATTRIBUTE_HEADER_BYTES, aligned, NLA_TYPE_MASK } from "./netlink-words.ts";

const DECODER = new TextDecoder();

/**
 * Steps through attributes without allocating; one cursor a level of nesting.
 *
 *     cursor.enter(view, from, to);
 *     while (cursor.next()) if (cursor.type === ID) id = cursor.be32();
 *
 * An attribute that claims more bytes than there are ends the walk, as the kernel does it.
 */
export class AttributeCursor {
  /** Without its flags. */
  type = 0;
  /** Where its value begins. */
  at = 0;
  /** How many bytes its value has. */
  length = 0;
  #view: DataView = new DataView(new ArrayBuffer(0));
  #next = 0;
  #end = 0;

  enter(view: DataView, from: number, to: number): void {
    this.#view = view;
    this.#next = from;
    this.#end = Math.min(to, view.byteLength);
  }

  next(): boolean {
    const at = this.#next;
    if (at + ATTRIBUTE_HEADER_BYTES > this.#end) return false;
    const byteCount = this.#view.getUint16(at, true);
    if (byteCount < ATTRIBUTE_HEADER_BYTES || at + byteCount > this.#end) return false;
    this.type = this.#view.getUint16(at + 2, true) & NLA_TYPE_MASK;
    this.at = at + ATTRIBUTE_HEADER_BYTES;
    this.length = byteCount - ATTRIBUTE_HEADER_BYTES;
    this.#next = at + aligned(byteCount);
    return true;
  }

  /** The value as a number, 0 where it has fewer bytes. */
  u8(): number {
    return this.length < 1 ? 0 : this.#view.getUint8(this.at);
  }

  u16(): number {
    return this.length < 2 ? 0 : this.#view.getUint16(this.at, true);
  }

  u32(): number {
    return this.length < 4 ? 0 : this.#view.getUint32(this.at, true);
  }

  /** In network byte order. */
  be16(): number {
    return this.length < 2 ? 0 : this.#view.getUint16(this.at, false);
  }

  /** In network byte order. */
  be32(): number {
    return this.length < 4 ? 0 : this.#view.getUint32(this.at, false);
  }

  u64(): bigint {
    return this.length < 8 ? 0n : this.#view.getBigUint64(this.at, true);
  }

  /** In network byte order. */
  be64(): bigint {
    return this.length < 8 ? 0n : this.#view.getBigUint64(this.at, false);
  }

  /** A copy of the value. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#view.buffer, this.#view.byteOffset + this.at, this.length).slice();
  }

  /** Up to its zero byte. */
  text(): string {
    const bytes = this.bytes();
    const end = bytes.indexOf(0);
    return DECODER.decode(end < 0 ? bytes : bytes.subarray(0, end));
  }

  /** Steps through the attributes within this one. */
  into(inner: AttributeCursor): void {
    inner.enter(this.#view, this.at, this.at + this.length);
  }
}
