import { ERRNO } from "../platform/errno.ts";
import type { StreamFd } from "./fd.ts";
import type { Region, RegionPool } from "./region.ts";

/** Takes bytes out; is told when an empty buffer has some again. */
export interface BufferReader {
  onBufferReadable(): void;
}

/** Puts bytes in; is told when a full buffer has room again. */
export interface BufferWriter {
  onBufferWritable(): void;
}

/**
 * A fixed number of bytes in order, written at one end and read at the other at the same time. Memory
 * is borrowed from the pool while there are bytes in it, and only then.
 */
export class RingBuffer {
  readonly capacityBytes: number;
  readonly #pool: RegionPool;
  #region: Region | undefined;
  #start = 0;
  #size = 0;
  #reader: BufferReader | undefined;
  #writer: BufferWriter | undefined;

  constructor(pool: RegionPool) {
    this.#pool = pool;
    this.capacityBytes = pool.regionBytes;
  }

  get size(): number {
    return this.#size;
  }

  get free(): number {
    return this.capacityBytes - this.#size;
  }

  setReader(reader: BufferReader | undefined): void {
    this.#reader = reader;
  }

  setWriter(writer: BufferWriter | undefined): void {
    this.#writer = writer;
  }

  /** Copies as many bytes in as there is room for, and returns how many. */
  store(bytes: Uint8Array): number {
    const taken = Math.min(bytes.length, this.free);
    if (taken === 0) return 0;
    const region = this.#borrowed();
    const end = this.#end();
    const first = Math.min(taken, this.capacityBytes - end);
    region.bytes.set(bytes.subarray(0, first), end);
    region.bytes.set(bytes.subarray(first, taken), 0);
    this.#grow(taken);
    return taken;
  }

  /**
   * Reads once from an FD, as much as there is room for in one piece, and returns what `read` did. (Not
   * again by itself: an end or an error is told by one read only, and must not be lost behind bytes.)
   */
  storeFrom(fd: StreamFd): number {
    const end = this.#end();
    const room = Math.min(this.free, this.capacityBytes - end);
    const count = fd.read(this.#borrowed(), end, room);
    if (count > 0) this.#grow(count);
    else this.#returnWhenEmpty();
    return count;
  }

  /** Writes to an FD as long as it takes: how many bytes; or a negative errno. */
  sendTo(fd: StreamFd): number {
    let total = 0;
    while (this.#size > 0 && this.#region !== undefined) {
      const run = Math.min(this.#size, this.capacityBytes - this.#start);
      const count = fd.write(this.#region, this.#start, run);
      if (count < 0) return total > 0 && count === -ERRNO.EAGAIN ? total : count;
      total += count;
      this.discard(count);
      if (count < run) break;
    }
    return total;
  }

  /** The bytes that can be seen in one piece, without taking them out; valid until the next change. */
  peek(): Uint8Array {
    if (this.#region === undefined) return EMPTY;
    const run = Math.min(this.#size, this.capacityBytes - this.#start);
    return this.#region.bytes.subarray(this.#start, this.#start + run);
  }

  /** Takes a copy of up to `maxBytes` out. */
  take(maxBytes: number = this.#size): Uint8Array {
    const out = new Uint8Array(Math.min(maxBytes, this.#size));
    const first = this.peek().subarray(0, out.length);
    out.set(first);
    if (first.length < out.length && this.#region !== undefined) {
      out.set(this.#region.bytes.subarray(0, out.length - first.length), first.length);
    }
    this.discard(out.length);
    return out;
  }

  /** Takes bytes out without looking at them. */
  discard(byteCount: number): void {
    const taken = Math.min(byteCount, this.#size);
    const wasFull = this.#size === this.capacityBytes;
    this.#start = (this.#start + taken) % this.capacityBytes;
    this.#size -= taken;
    this.#returnWhenEmpty();
    if (wasFull && taken > 0) this.#writer?.onBufferWritable();
  }

  /** Throws the bytes away and tells nobody. */
  clear(): void {
    this.#size = 0;
    this.#returnWhenEmpty();
  }

  #borrowed(): Region {
    this.#region ??= this.#pool.borrow();
    return this.#region;
  }

  #end(): number {
    return (this.#start + this.#size) % this.capacityBytes;
  }

  #grow(byteCount: number): void {
    const wasEmpty = this.#size === 0;
    this.#size += byteCount;
    if (wasEmpty) this.#reader?.onBufferReadable();
  }

  #returnWhenEmpty(): void {
    if (this.#size > 0) return;
    this.#start = 0;
    if (this.#region === undefined) return;
    this.#pool.giveBack(this.#region);
    this.#region = undefined;
  }
}

const EMPTY = new Uint8Array(0);
