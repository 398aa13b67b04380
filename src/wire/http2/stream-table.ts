import type { Http2Stream } from "./http2-stream.ts";

/** How many ids of streams that were reset from here are remembered: what is on its way still comes. */
const MAX_REMEMBERED = 256;

/** The streams of one connection. */
export class StreamTable {
  readonly #open = new Map<number, Http2Stream>();
  readonly #resetHere = new Set<number>();
  /** The highest one that the client has opened; ids below it are used up. */
  lastId = 0;

  get count(): number {
    return this.#open.size;
  }

  get(id: number): Http2Stream | undefined {
    return this.#open.get(id);
  }

  add(stream: Http2Stream): void {
    this.#open.set(stream.id, stream);
  }

  remove(stream: Http2Stream): void {
    this.#open.delete(stream.id);
  }

  /** A copy: streams come and go while it is looked at. */
  all(): readonly Http2Stream[] {
    return [...this.#open.values()];
  }

  /** Whether it can not have been used: clients have the odd numbers, and nobody pushes. */
  isIdle(id: number): boolean {
    return id > this.lastId || id % 2 === 0;
  }

  noteReset(id: number): void {
    this.#resetHere.add(id);
    if (this.#resetHere.size <= MAX_REMEMBERED) return;
    for (const oldest of this.#resetHere) {
      this.#resetHere.delete(oldest);
      return;
    }
  }

  /** Whether it was reset from here, a short while ago. */
  wasResetHere(id: number): boolean {
    return this.#resetHere.has(id);
  }
}
