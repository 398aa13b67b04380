/** So much work at once, and no more. */
export class Slots {
  readonly #max: number;
  readonly #refusal: () => Error;
  #taken = 0;

  /** @param refusal what is thrown where there is no room */
  constructor(max: number, refusal: () => Error) {
    this.#max = max;
    this.#refusal = refusal;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken >= this.#max) throw this.#refusal();
    this.#taken += 1;
    try {
      return await work();
    } finally {
      this.#taken -= 1;
    }
  }
}
