import { SCOPES, type Scopes } from "../wire/sets/scopes.ts";

/** What an entry costs beside its bytes, about. */
const ENTRY_OVERHEAD_BYTES = 160;

type Generation = ReadonlyMap<Scopes | undefined, Map<object, Buffer>>;

/**
 * Encoded messages by the immutable value that they say and the scopes that they say of it (these
 * depend on more than the value), shared between all watchers. It has two generations: when the young
 * one has taken half of the bytes, the old one is dropped. What is asked for stays young.
 */
export class FrameCache {
  readonly #maxBytes: number;
  #young = emptyGeneration();
  #old = emptyGeneration();
  #youngBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(value: object, scopes?: Scopes): Buffer | undefined {
    const frame = this.#young.get(scopes)?.get(value);
    if (frame !== undefined) return frame;
    const aged = this.#old.get(scopes)?.get(value);
    if (aged !== undefined) this.#add(value, scopes, aged);
    return aged;
  }

  /** Keeps a copy of `frame`. */
  set(value: object, scopes: Scopes | undefined, frame: Uint8Array): void {
    this.#add(value, scopes, Buffer.from(frame));
  }

  #add(value: object, scopes: Scopes | undefined, frame: Buffer): void {
    this.#youngBytes += frame.length + ENTRY_OVERHEAD_BYTES;
    if (this.#youngBytes > this.#maxBytes / 2) {
      this.#old = this.#young;
      this.#young = emptyGeneration();
      this.#youngBytes = frame.length + ENTRY_OVERHEAD_BYTES;
    }
    this.#young.get(scopes)?.set(value, frame);
  }
}

function emptyGeneration(): Generation {
  return new Map([undefined, ...SCOPES].map((scopes) => [scopes, new Map()]));
}
