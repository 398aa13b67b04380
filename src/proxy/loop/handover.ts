/** Which loops serve what is accepted here, in turn. */
export class Handover {
  readonly #workers = new Map<string, { readonly loops: readonly string[]; turn: number }>();

  /** @param loops none: what is accepted here is served here. */
  set(socketId: string, loops: readonly string[]): void {
    if (loops.length === 0) this.#workers.delete(socketId);
    else this.#workers.set(socketId, { loops, turn: this.#workers.get(socketId)?.turn ?? 0 });
  }

  delete(socketId: string): void {
    this.#workers.delete(socketId);
  }

  /** The loop for the next connection; undefined: this one. */
  next(socketId: string): string | undefined {
    const workers = this.#workers.get(socketId);
    if (workers === undefined) return undefined;
    workers.turn = (workers.turn + 1) % workers.loops.length;
    return workers.loops[workers.turn];
  }
}
