/** How an object is opened and closed. */
export interface HandleSource<H> {
  open(id: string): Promise<H>;
  close(handle: H): Promise<void>;
}

interface Kept<H> {
  readonly id: string;
  readonly opening: Promise<H>;
  users: number;
}

/**
 * Keeps the handle of one object from one use to the next that follows at once: thousands of endpoints are
 * made of one network. When nobody asks any more, or a use failed, it is closed.
 */
export class KeptHandle<H> {
  readonly #source: HandleSource<H>;
  #kept: Kept<H> | undefined;

  constructor(source: HandleSource<H>) {
    this.#source = source;
  }

  async use<T>(id: string, act: (handle: H) => Promise<T>): Promise<T> {
    const kept = this.#take(id);
    try {
      return await act(await kept.opening);
    } catch (error) {
      // The object may be another one by now: it is opened anew.
      if (this.#kept === kept) this.#kept = undefined;
      throw error;
    } finally {
      kept.users -= 1;
      if (this.#kept !== kept) await this.#closeUnused(kept);
      // What follows at once is asked for before that.
      else setImmediate(() => void this.#release(kept));
    }
  }

  #take(id: string): Kept<H> {
    const before = this.#kept;
    if (before?.id === id) {
      before.users += 1;
      return before;
    }
    const kept: Kept<H> = { id, opening: this.#source.open(id), users: 1 };
    this.#kept = kept;
    if (before !== undefined) void this.#closeUnused(before);
    return kept;
  }

  async #release(kept: Kept<H>): Promise<void> {
    if (this.#kept !== kept || kept.users > 0) return;
    this.#kept = undefined;
    await this.#closeUnused(kept);
  }

  /** Where it could not be opened there is nothing to close; who asked was told. */
  async #closeUnused({ users, opening }: Kept<H>): Promise<void> {
    if (users > 0) return;
    const handle = await opening.catch(() => undefined);
    if (handle !== undefined) await this.#source.close(handle).catch(() => undefined);
  }
}
