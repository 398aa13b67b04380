import type { HeaderField } from "./header-field.ts";

/** The fields that a sender has named before, the newest first (RFC 7541 section 2.3.2). */
export class DynamicTable {
  /** A ring: the newest is at `#newest`, older ones after it. Its length is a power of two. */
  #ring: (HeaderField | undefined)[] = new Array(FIRST_CAPACITY);
  #newest = 0;
  #count = 0;
  #size = 0;
  #maxSize: number;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get count(): number {
    return this.#count;
  }

  get size(): number {
    return this.#size;
  }

  /** Undefined where there is none; 0 is the newest. */
  get(index: number): HeaderField | undefined {
    if (index >= this.#count) return undefined;
    return this.#ring[(this.#newest + index) & (this.#ring.length - 1)];
  }

  /** One that is larger than the table empties it, which is no error. */
  add(field: HeaderField): void {
    const { size } = field;
    this.#evictTo(this.#maxSize - size);
    if (size > this.#maxSize) return;
    if (this.#count === this.#ring.length) this.#grow();
    this.#newest = (this.#newest - 1) & (this.#ring.length - 1);
    this.#ring[this.#newest] = field;
    this.#count += 1;
    this.#size += size;
  }

  setMaxSize(maxSize: number): void {
    this.#maxSize = maxSize;
    this.#evictTo(maxSize);
  }

  #evictTo(size: number): void {
    while (this.#count > 0 && this.#size > size) {
      const oldest = (this.#newest + this.#count - 1) & (this.#ring.length - 1);
      this.#size -= this.#ring[oldest]?.size ?? 0;
      this.#ring[oldest] = undefined;
      this.#count -= 1;
    }
  }

  #grow(): void {
    const fields = Array.from({ length: this.#count }, (_, index) => this.get(index));
    this.#ring = [...fields, ...new Array(fields.length)];
    this.#newest = 0;
  }
}

const FIRST_CAPACITY = 16;
