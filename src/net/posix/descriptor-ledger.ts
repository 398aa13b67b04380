import { close } from "../../platform/linux/io-calls.ts";

const BITS_PER_WORD = 32;
const BYTES_PER_WORD = 4;

/**
 * Which descriptors a loop has open, as bits in shared memory: the loop writes, and the main thread
 * closes what is left after the loop has died. One owner closes; what is handed off is forgotten first,
 * and noted for who gets it by who gives it: so it is in a ledger also while it is on its way.
 */
export class DescriptorLedger {
  readonly #bits: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#bits = new Int32Array(memory);
  }

  /** Memory for descriptors below `limit` (RLIMIT_NOFILE). */
  static allocate(limit: number): SharedArrayBuffer {
    return new SharedArrayBuffer(Math.ceil(limit / BITS_PER_WORD) * BYTES_PER_WORD);
  }

  note(descriptor: number): void {
    this.#set(descriptor, true);
  }

  forget(descriptor: number): void {
    this.#set(descriptor, false);
  }

  /** Forgets, then closes: the number may be taken by another thread at once. */
  close(descriptor: number): void {
    this.#set(descriptor, false);
    close(descriptor);
  }

  /** Closes all that is noted, and returns how many. Only when the loop that writes it is gone. */
  closeAll(): number {
    let count = 0;
    for (const descriptor of this.open()) {
      this.close(descriptor);
      count += 1;
    }
    return count;
  }

  /** The descriptors that are noted. */
  open(): readonly number[] {
    const open: number[] = [];
    for (const [index, word] of this.#bits.entries()) {
      if (word === 0) continue;
      for (let bit = 0; bit < BITS_PER_WORD; bit += 1) {
        if ((word & (1 << bit)) !== 0) open.push(index * BITS_PER_WORD + bit);
      }
    }
    return open;
  }

  #set(descriptor: number, isOpen: boolean): void {
    const index = descriptor >>> 5;
    const mask = 1 << (descriptor & 31);
    if (isOpen) Atomics.or(this.#bits, index, mask);
    else Atomics.and(this.#bits, index, ~mask);
  }
}
