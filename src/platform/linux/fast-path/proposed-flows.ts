import { answerKeyOf, type FastFlow, idOf } from "./fast-flow.ts";
import { MOST_TAKEN } from "./fast-plane.ts";

/**
 * Directions of connections that could take the path, until the other direction is known, too. Where only one took it,
 * tracking would see what an end says and not what is acknowledged of it, and make nothing of a reset.
 */
export class ProposedFlows {
  #recent = new Map<string, FastFlow>();
  #earlier = new Map<string, FastFlow>();

  /**
   * @param isAnswered whether what answers a flow takes the path
   * @returns those of which both directions are known, together, and those that are answered
   */
  pair(
    seen: readonly FastFlow[],
    isAnswered: (flow: FastFlow) => boolean,
  ): readonly (readonly FastFlow[])[] {
    return seen.flatMap((flow) => {
      if (isAnswered(flow)) return [[flow]];
      const answerId = idOf(answerKeyOf(flow));
      const answer = this.#recent.get(answerId) ?? this.#earlier.get(answerId);
      // What comes back by another link than it is answered by is no pair.
      if (answer === undefined || idOf(answerKeyOf(answer)) !== idOf(flow.key)) {
        this.#keep(flow);
        return [];
      }
      this.#recent.delete(answerId);
      this.#earlier.delete(answerId);
      return [[flow, answer]];
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
