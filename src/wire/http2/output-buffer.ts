/** Memory that bytes are sent from. */
export interface Memory {
  readonly bytes: Uint8Array;
}

/** Lends memory. */
export interface MemoryPool<M extends Memory> {
  /** With room for so many bytes at least. */
  borrow(byteCount: number): M;
  giveBack(memory: M): void;
}

/** Where frames are written to. */
export interface ByteSink {
  /** How many bytes wait to be sent. */
  readonly size: number;
  /** Makes room for so many bytes and counts them as written: where they begin in `bytes`. */
  extend(byteCount: number): number;
  /** Valid until the next `extend`. */
  readonly bytes: Buffer;
}

const NO_BYTES = Buffer.alloc(0);

/** Bytes that wait to be sent, in one piece. Memory is borrowed while there are some, and only then. */
export class OutputBuffer<M extends Memory> implements ByteSink {
  readonly #pool: MemoryPool<M>;
  readonly #onWaiting: () => void;
  #memory: M | undefined;
  #bytes: Buffer = NO_BYTES;
  #start = 0;
  #end = 0;

  /** @param onWaiting is told when there is something to be sent where there was nothing. */
  constructor(pool: MemoryPool<M>, onWaiting: () => void) {
    this.#pool = pool;
    this.#onWaiting = onWaiting;
  }

  get size(): number {
    return this.#end - this.#start;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  /** What is to be sent is in it, from `start`, `size` bytes long; undefined where there is nothing. */
  get memory(): M | undefined {
    return this.#memory;
  }

  get start(): number {
    return this.#start;
  }

  extend(byteCount: number): number {
    if (this.#memory === undefined) this.#onWaiting();
    if (this.#end + byteCount > this.#bytes.length) this.#makeRoom(byteCount);
    const at = this.#end;
    this.#end += byteCount;
    return at;
  }

  /** The first bytes are sent. */
  drop(byteCount: number): void {
    this.#start += byteCount;
    if (this.#start === this.#end) this.clear();
  }

  /** Throws away what is there. */
  clear(): void {
    if (this.#memory !== undefined) this.#pool.giveBack(this.#memory);
    this.#memory = undefined;
    this.#bytes = NO_BYTES;
    this.#start = 0;
    this.#end = 0;
  }

  #makeRoom(byteCount: number): void {
    const { size } = this;
    if (size + byteCount <= this.#bytes.length) {
      this.#bytes.copyWithin(0, this.#start, this.#end);
    } else {
      const memory = this.#pool.borrow(Math.max(size + byteCount, 2 * this.#bytes.length));
      const { buffer, byteOffset, byteLength } = memory.bytes;
      const bytes = Buffer.from(buffer, byteOffset, byteLength);
      this.#bytes.copy(bytes, 0, this.#start, this.#end);
      if (this.#memory !== undefined) this.#pool.giveBack(this.#memory);
      this.#memory = memory;
      this.#bytes = bytes;
    }
    this.#start = 0;
    this.#end = size;
  }
}
