import type { NodeRoundTrips } from "./messages.ts";

/** What was told longer ago is of a node that asks another manager by now, or none. */
const KEPT_MS = 60_000;
/** More pairs are not told at once. */
const MAX_PAIRS = 4096;

interface Told {
  readonly atMs: number;
  readonly toMs: Readonly<Record<string, number>>;
}

/** How far nodes are from each other, as each told this manager last. In memory only: it is measured anew all the time. */
export class RoundTripBook {
  readonly #nowMs: () => number;
  readonly #told = new Map<string, Told>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  note(node: string, toMs: Told["toMs"]): void {
    this.#told.set(node, { atMs: this.#nowMs(), toMs });
  }

  forget(node: string): void {
    this.#told.delete(node);
  }

  list(): readonly NodeRoundTrips[] {
    const nowMs = this.#nowMs();
    const rows: NodeRoundTrips[] = [];
    let pairs = 0;
    for (const [node, { atMs, toMs }] of this.#told) {
      const ageMs = Math.max(0, nowMs - atMs);
      if (ageMs > KEPT_MS) {
        this.#told.delete(node);
        continue;
      }
      pairs += Object.keys(toMs).length;
      if (pairs <= MAX_PAIRS) rows.push({ node, ageMs, toMs });
    }
    return rows;
  }
}
