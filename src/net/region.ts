/**
 * Bytes that an FD can read into and write from. A provider makes them (`Provider.allocate`): system
 * calls need the address, others use the bytes alone.
 */
export interface Region {
  readonly bytes: Uint8Array;
  /** Of the first byte in memory; 0 where the provider has no use for it. */
  readonly address: number;
}

/** Regions of one size, lent and taken back, so that an idle connection holds none. */
export class RegionPool {
  readonly regionBytes: number;
  readonly #allocate: (byteCount: number) => Region;
  readonly #maxKept: number;
  readonly #free: Region[] = [];

  constructor(options: {
    readonly regionBytes: number;
    /** How many free ones are kept for the next borrower. */
    readonly maxKept: number;
    readonly allocate: (byteCount: number) => Region;
  }) {
    this.regionBytes = options.regionBytes;
    this.#maxKept = options.maxKept;
    this.#allocate = options.allocate;
  }

  borrow(): Region {
    return this.#free.pop() ?? this.#allocate(this.regionBytes);
  }

  giveBack(region: Region): void {
    if (this.#free.length < this.#maxKept) this.#free.push(region);
  }
}
