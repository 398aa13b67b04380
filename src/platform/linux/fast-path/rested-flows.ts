import type { FlowTuple } from "../../../wire/netlink/conntrack/flow.ts";
import { MOST_TAKEN } from "./fast-plane.ts";

/** One that took the path and was sent by the rules again when it rested. */
export interface RestedFlow {
  /** The kernel's own. */
  readonly id: number;
  readonly tuple: FlowTuple;
  /** How often it was found to owe what it does not, since. */
  readonly corrections: number;
}

/** All are looked at in so many turns, unless they are few. */
const TURNS = 12;
const FEW = 256;
/** Of each direction once, and again where it owed something indeed. */
const MOST_CORRECTIONS = 4;

/** Those that rest, a part of which is looked at each time. */
export class RestedFlows {
  /** The one that was looked at last is last. */
  readonly #flows = new Map<number, RestedFlow>();

  /** Those that were there first are given up where they are too many. */
  add({ id, tuple }: Pick<RestedFlow, "id" | "tuple">): void {
    this.#flows.set(id, { id, tuple, corrections: 0 });
    const [first] = this.#flows.keys();
    if (this.#flows.size > MOST_TAKEN && first !== undefined) this.#flows.delete(first);
  }

  remove(id: number): void {
    this.#flows.delete(id);
  }

  /** It is given up where that was enough. */
  correct({ id, tuple, corrections }: RestedFlow): void {
    if (corrections + 1 === MOST_CORRECTIONS) this.remove(id);
    else this.#flows.set(id, { id, tuple, corrections: corrections + 1 });
  }

  /** Those whose turn it is. */
  turn(): readonly RestedFlow[] {
    const count = Math.max(FEW, Math.ceil(this.#flows.size / TURNS));
    const flows = [...this.#flows.values()].slice(0, count);
    for (const flow of flows) {
      this.#flows.delete(flow.id);
      this.#flows.set(flow.id, flow);
    }
    return flows;
  }
}
