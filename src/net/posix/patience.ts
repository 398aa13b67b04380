/** After so many misses in a row it is tried only once in this many times. */
const MAX_PAUSE = 31;
/** After it did harm it is not tried for so many times. */
const HARM_PAUSE = 1000;

/**
 * Whether it pays to look for a moment before going to sleep: to be woken takes longer than most answers
 * on one machine, but a look that finds nothing is lost. So it is tried less and less while it does not
 * pay, and again when it does.
 */
export class Patience {
  #pause = 0;
  #left = 0;

  /** Asked each time before going to sleep. */
  isDue(): boolean {
    if (this.#left === 0) return true;
    this.#left -= 1;
    return false;
  }

  /** A look found something. */
  paid(): void {
    this.#pause >>= 1;
  }

  /** A look was in vain. */
  failed(): void {
    this.#pause = Math.min(2 * this.#pause + 1, MAX_PAUSE);
    this.#left = this.#pause;
  }

  /** It did harm. */
  giveUp(): void {
    this.#pause = MAX_PAUSE;
    this.#left = HARM_PAUSE;
  }
}
