/** After many misses it is not tried for so many times. */
const MAX_PAUSE = 31;
/** For so many times it is not tried after it did harm, and after it did harm again and again. */
const [MIN_HARM_PAUSE, MAX_HARM_PAUSE] = [15, 1023];
/** After it paid so many times without harm, harm of before counts for half. */
const FORGIVEN_AFTER = 64;

/**
 * Whether it pays to look for a moment before going to sleep: to be woken takes longer than most answers
 * on one machine, but a look that finds nothing is lost. So it is tried less and less while it does not
 * pay, and again when it does.
 */
export class Patience {
  #pause = 0;
  #harmPause = MIN_HARM_PAUSE;
  #paidSinceHarm = 0;
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
    this.#paidSinceHarm += 1;
    if (this.#paidSinceHarm < FORGIVEN_AFTER) return;
    this.#paidSinceHarm = 0;
    this.#harmPause = Math.max(this.#harmPause >> 1, MIN_HARM_PAUSE);
  }

  /** A look was in vain. */
  failed(): void {
    this.#pause = Math.min(2 * this.#pause + 1, MAX_PAUSE);
    this.#left = this.#pause;
  }

  /** It did harm. Where that is rare it is chance: any machine has something else to do now and then. */
  didHarm(): void {
    this.#paidSinceHarm = 0;
    this.#left = this.#harmPause;
    this.#harmPause = Math.min(2 * this.#harmPause + 1, MAX_HARM_PAUSE);
  }
}
