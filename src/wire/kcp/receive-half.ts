/** Of so many that came last it is told again and again: the word about one may be lost. */
const RECENT = 128;

/** Puts what comes back into order. It counts segments from 0 and never starts anew. */
export class ReceiveHalf {
  readonly #ring: (Uint8Array | undefined)[];
  readonly #windowSegments: number;
  #ready: Uint8Array[] = [];
  #readyFrom = 0;
  /** The first that has not come. */
  next = 0;
  /** One past the last that has come. */
  #end = 0;
  /** Which came last, as a ring. */
  readonly #recent = new Float64Array(RECENT).fill(-1);
  #recentCount = 0;

  constructor(windowSegments: number) {
    this.#windowSegments = windowSegments;
    this.#ring = new Array<Uint8Array | undefined>(windowSegments).fill(undefined);
  }

  /** How many more there is room for. */
  get window(): number {
    return Math.max(0, this.#windowSegments - (this.#ready.length - this.#readyFrom));
  }

  get hasGaps(): boolean {
    return this.#end > this.next;
  }

  /** Takes a copy. False where it came before, or is beyond the window. */
  accept(sn: number, bytes: Uint8Array): boolean {
    if (sn < this.next || sn >= this.next + this.window) return false;
    const slot = sn % this.#windowSegments;
    if (this.#ring[slot] !== undefined) return false;
    this.#ring[slot] = bytes.slice();
    this.#end = Math.max(this.#end, sn + 1);
    this.#recent[this.#recentCount % RECENT] = sn;
    this.#recentCount += 1;
    for (;;) {
      const at = this.next % this.#windowSegments;
      const first = this.#ring[at];
      if (first === undefined) return true;
      this.#ring[at] = undefined;
      this.#ready.push(first);
      this.next += 1;
    }
  }

  /** The next bytes of the stream; undefined where they have not come. */
  read(): Uint8Array | undefined {
    const first = this.#ready[this.#readyFrom];
    if (first === undefined) return undefined;
    this.#readyFrom += 1;
    if (this.#readyFrom === this.#ready.length) {
      this.#ready = [];
      this.#readyFrom = 0;
    }
    return first;
  }

  /**
   * What came beyond the first gap: first that of which the sender may not know yet, wherever it lies, as what was sent
   * again fills old gaps; then from the end.
   */
  eachSpan(maxSpans: number, put: (from: number, end: number) => void): void {
    const told = new Set<number>();
    const tell = (sn: number): number => {
      let from = sn;
      while (from > this.next && this.#has(from - 1)) from -= 1;
      if (told.has(from)) return from;
      let end = sn + 1;
      while (end < this.#end && this.#has(end)) end += 1;
      told.add(from);
      put(from, end);
      return from;
    };
    const oldest = Math.max(0, this.#recentCount - RECENT);
    for (let at = this.#recentCount - 1; at >= oldest && told.size < maxSpans; at -= 1) {
      const sn = this.#recent[at % RECENT] ?? -1;
      if (sn > this.next) tell(sn);
    }
    for (let last = this.#end - 1; last > this.next && told.size < maxSpans; ) {
      last = tell(last) - 1;
      while (last > this.next && !this.#has(last)) last -= 1;
    }
  }

  #has(sn: number): boolean {
    return this.#ring[sn % this.#windowSegments] !== undefined;
  }
}
