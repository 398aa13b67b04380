const BITS_PER_WORD = 32;
const WORDS = 64;
const BITS = WORDS * BITS_PER_WORD;
/** The word that is being filled holds bits of two rounds: it is not counted. */
export const WINDOW_SIZE: number = BITS - BITS_PER_WORD;

/** Which counters have come: each is taken once, and none that is too far behind. */
export interface CounterWindow {
  /** The newest that was taken; -1 where none was. */
  readonly greatest: number;
  /** Whether it may still come; `take` it when it is known to be genuine. */
  isNew(counter: number): boolean;
  /** False where it came before, or is too old. */
  take(counter: number): boolean;
}

/** In memory of its own (RFC 6479). */
export class ReplayWindow implements CounterWindow {
  readonly #words = new Int32Array(WORDS);
  #greatest = -1;

  get greatest(): number {
    return this.#greatest;
  }

  isNew(counter: number): boolean {
    if (counter > this.#greatest) return true;
    if (counter + WINDOW_SIZE < this.#greatest) return false;
    return ((this.#words[wordOf(counter)] ?? 0) & bitOf(counter)) === 0;
  }

  take(counter: number): boolean {
    if (!this.isNew(counter)) return false;
    if (counter > this.#greatest) this.#advance(counter);
    const word = wordOf(counter);
    this.#words[word] = (this.#words[word] ?? 0) | bitOf(counter);
    return true;
  }

  #advance(counter: number): void {
    const from = Math.floor(this.#greatest / BITS_PER_WORD);
    const to = Math.floor(counter / BITS_PER_WORD);
    const steps = Math.min(to - from, WORDS);
    for (let step = 1; step <= steps; step += 1) this.#words[(from + step + WORDS) % WORDS] = 0;
    this.#greatest = counter;
  }
}

function wordOf(counter: number): number {
  return Math.floor(counter / BITS_PER_WORD) % WORDS;
}

function bitOf(counter: number): number {
  return 1 << (counter % BITS_PER_WORD);
}
