/** Decides between possibilities; returns the index of one of the weights, which sum to 1. */
export type Choose = (weights: readonly number[]) => number;

export interface Path<T> {
  readonly probability: number;
  readonly result: T;
}

/** More ways than these are not followed. */
const MAX_PATHS = 10_000;

export interface Paths<T> {
  readonly paths: readonly Path<T>[];
  /** False where there are more than were followed. */
  readonly isComplete: boolean;
}

/**
 * Runs something that leaves decisions to chance once for each way they can go. It has to ask for the
 * same decisions where it gets the same answers.
 */
export function enumeratePaths<T>(run: (choose: Choose) => T): Paths<T> {
  const paths: Path<T>[] = [];
  for (const path of eachPath(run)) {
    if (paths.length === MAX_PATHS) return { paths, isComplete: false };
    paths.push(path);
  }
  return { paths, isComplete: true };
}

/** The same one by one, however many there are. */
export function* eachPath<T>(run: (choose: Choose) => T): Generator<Path<T>> {
  let next: number[] | undefined = [];
  while (next !== undefined) {
    const way = new Way(next);
    const result = run((weights) => way.choose(weights));
    yield { probability: way.probability, result };
    next = way.following();
  }
}

/** One way through: the decisions that were given, and the first possibility of all that follow. */
class Way {
  readonly #decisions: number[];
  readonly #counts: number[] = [];
  probability = 1;

  constructor(decisions: number[]) {
    this.#decisions = decisions;
  }

  choose(weights: readonly number[]): number {
    const step = this.#counts.length;
    const choice = this.#decisions[step] ?? 0;
    this.#decisions[step] = choice;
    this.#counts.push(weights.length);
    this.probability *= weights[choice] ?? 0;
    return choice;
  }

  /** The decisions of the next way; undefined after the last. */
  following(): number[] | undefined {
    for (let step = this.#counts.length - 1; step >= 0; step -= 1) {
      const choice = this.#decisions[step] ?? 0;
      if (choice + 1 < (this.#counts[step] ?? 0)) {
        return [...this.#decisions.slice(0, step), choice + 1];
      }
    }
    return undefined;
  }
}
