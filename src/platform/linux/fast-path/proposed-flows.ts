import { answerKeyOf, type FastFlow, idOf } from "./fast-flow.ts";
import { MOST_TAKEN } from "./fast-plane.ts";

/**
 * Directions of connections that could take the path, until the other direction is known, too. Where only one took it,
 * tracking would see what an end says and not what is acknowledged of it, and make nothing of a reset.
 */
export class ProposedFlows {
  #recent = new Map<string, FastFlow>();
  #earlier = new Map<string, FastFlow>();

  /** @returns those of which both directions are known; or the other one takes the path, which `isTaken` says */
  pair(seen: readonly FastFlow[], isTaken: (id: string) => boolean): readonly FastFlow[] {
    return seen.flatMap((flow) => {
      const answerId = idOf(answerKeyOf(flow));
      if (isTaken(answerId)) return [flow];
      const answer = this.#recent.get(answerId) ?? this.#earlier.get(answerId);
      if (answer === undefined) {
        this.#keep(flow);
        return [];
      }
      this.#recent.delete(answerId);
      this.#earlier.delete(answerId);
      return [flow, answer];
    });
  }

  /** Forgets those that were there the last time already. */
  age(): void {
    this.#earlier = this.#recent;
    this.#recent = new Map();
  }

  #keep(flow: FastFlow): void {
    if (this.#recent.size === MOST_TAKEN) this.age();
    this.#recent.set(idOf(flow.key), flow);
  }
}
