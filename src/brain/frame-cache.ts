/** What an entry costs beside its bytes, about. */
const ENTRY_OVERHEAD_BYTES = 160;

/**
 * Encoded messages by the immutable value that they say, shared between all watchers. Holds at most
 * twice `maxBytes`: when the younger generation is full, the older one is dropped.
 */
export class FrameCache {
  readonly #maxBytes: number;
  #young = new Map<object, Buffer>();
  #old = new Map<object, Buffer>();
  #youngBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(value: object): Buffer | undefined {
    const frame = this.#young.get(value);
    if (frame !== undefined) return frame;
    const aged = this.#old.get(value);
    if (aged !== undefined) this.#add(value, aged);
    return aged;
  }

  /** Keeps a copy of `frame`. */
  set(value: object, frame: Uint8Array): void {
    this.#add(value, Buffer.from(frame));
  }

  #add(value: object, frame: Buffer): void {
    this.#youngBytes += frame.length + ENTRY_OVERHEAD_BYTES;
    if (this.#youngBytes > this.#maxBytes) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = frame.length + ENTRY_OVERHEAD_BYTES;
    }
    this.#young.set(value, frame);
  }
}
