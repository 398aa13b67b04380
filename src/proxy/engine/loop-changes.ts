import type { Change, EngineReport } from "../loop/engine-messages.ts";
import type { CounterBlocks } from "../stats/counter-blocks.ts";
import type { Fleet } from "./fleet.ts";

/** A change that a loop could not make. */
export interface FailedChange {
  readonly change: Change;
  readonly message: string;
}

type ChangedReport = Extract<EngineReport, { kind: "changed" }>;

interface Waiting {
  readonly place: number;
  readonly answer: (report: ChangedReport) => void;
}

/** Tells loops what is different, and waits until they have done it. */
export class LoopChanges {
  readonly #blocks: CounterBlocks;
  /** How many blocks each loop knows. */
  readonly #knownBlocks = new Map<number, number>();
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;

  constructor(blocks: CounterBlocks) {
    this.#blocks = blocks;
  }

  /** Settles when all have answered, or are gone. */
  async tell(
    fleet: Fleet,
    places: readonly number[],
    changes: readonly Change[],
  ): Promise<readonly FailedChange[]> {
    if (changes.length === 0) return [];
    const reports = await Promise.all(places.map((place) => this.#ask(fleet, place, changes)));
    return reports.flatMap(({ problems }) =>
      problems.flatMap(({ index, message }) => {
        const change = changes[index];
        return change === undefined ? [] : [{ change, message }];
      }),
    );
  }

  /** Lets all of them see what the others have open. */
  shareBlocks(fleet: Fleet, places: readonly number[]): void {
    for (const place of places) this.#sendBlocks(fleet, place);
  }

  answered(report: ChangedReport): void {
    this.#waiting.get(report.request)?.answer(report);
    this.#waiting.delete(report.request);
  }

  /** It will not answer any more. */
  loopLost(lost: number): void {
    for (const [request, { place }] of [...this.#waiting]) {
      if (place === lost) this.answered({ kind: "changed", request, problems: [] });
    }
  }

  /** A loop that knows nothing is in that place now. */
  loopStarted(place: number): void {
    this.#knownBlocks.delete(place);
  }

  #ask(fleet: Fleet, place: number, changes: readonly Change[]): Promise<ChangedReport> {
    this.#sendBlocks(fleet, place);
    this.#requests += 1;
    const request = this.#requests;
    return new Promise((answer) => {
      this.#waiting.set(request, { place, answer });
      if (!fleet.send(place, { kind: "change", request, changes })) {
        this.answered({ kind: "changed", request, problems: [] });
      }
    });
  }

  #sendBlocks(fleet: Fleet, place: number): void {
    const { blocks } = this.#blocks;
    for (const block of blocks.slice(this.#knownBlocks.get(place) ?? 0)) {
      fleet.send(place, { kind: "block", block });
    }
    this.#knownBlocks.set(place, blocks.length);
  }
}
