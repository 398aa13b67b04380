interface Waiting<T> {
  readonly resolve: (answer: T) => void;
  readonly reject: (error: Error) => void;
}

/** Questions that are on their way, by number. */
export class Requests<T> {
  readonly #waiting = new Map<number, Waiting<T>>();
  #next = 0;

  add(): { readonly request: number; readonly answer: Promise<T> } {
    this.#next += 1;
    const request = this.#next;
    const answer = new Promise<T>((resolve, reject) => {
      this.#waiting.set(request, { resolve, reject });
    });
    return { request, answer };
  }

  /** One that nobody waits for any more is ignored. */
  answer(request: number, answer: T): void {
    this.#take(request)?.resolve(answer);
  }

  fail(request: number, error: Error): void {
    this.#take(request)?.reject(error);
  }

  failAll(error: Error): void {
    for (const request of [...this.#waiting.keys()]) this.fail(request, error);
  }

  #take(request: number): Waiting<T> | undefined {
    const waiting = this.#waiting.get(request);
    this.#waiting.delete(request);
    return waiting;
  }
}
