import { backOf, type FlowEnd, type FlowPlace } from "../flows/flow.ts";
import type { ConnectionObserver, FlowTable } from "../flows/flow-table.ts";
import { flowPlanOf, type KeptFlow, keptFlowOf } from "./kept-flow.ts";

/** What to write down since the last time. */
export interface FlowNews {
  readonly added: readonly KeptFlow[];
  readonly removed: readonly number[];
}

/**
 * Which connections the next process has to know. Those that end before they are asked for are never written
 * down, so short ones cost nothing.
 */
export class FlowKeeper implements ConnectionObserver {
  readonly #ids = new Map<FlowEnd, number>();
  #fresh = new Set<FlowEnd>();
  #removed: number[] = [];
  /** Of an earlier process, as long as nobody knows their instances. */
  #waiting: readonly KeptFlow[];
  #lastId: number;

  constructor(kept: readonly KeptFlow[]) {
    this.#waiting = kept;
    this.#lastId = kept.reduce((last, { id }) => Math.max(last, id), 0);
  }

  established(flow: FlowEnd): void {
    if (!this.#ids.has(flow)) this.#fresh.add(flow);
  }

  removed(flow: FlowEnd): void {
    this.#fresh.delete(flow);
    const id = this.#ids.get(flow);
    if (id === undefined) return;
    this.#ids.delete(flow);
    this.#removed.push(id);
  }

  /** Undefined where there is nothing new. `flows`: the table that it observes. */
  takeNews(flows: FlowTable<unknown>): FlowNews | undefined {
    if (this.#fresh.size === 0 && this.#removed.length === 0) return undefined;
    const added = [...this.#fresh].map((flow) => {
      this.#lastId += 1;
      this.#ids.set(flow, this.#lastId);
      return keptFlowOf(this.#lastId, flows.flowOf(flow));
    });
    const removed = this.#removed;
    this.#fresh = new Set();
    this.#removed = [];
    return { added, removed };
  }

  /** Goes on with the connections whose instances are known now. */
  resume<T>(
    flows: FlowTable<T>,
    placeOf: (server: string) => FlowPlace<T> | undefined,
    nowMs: number,
  ): void {
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter((kept) => {
      const place = placeOf(kept.server);
      if (place === undefined) return true;
      const plan = flowPlanOf(kept);
      if (flows.has(plan.protocol, plan.asked) || flows.has(plan.protocol, plan.answered)) {
        this.#removed.push(kept.id);
        return false;
      }
      const flow = flows.add(plan, place.instance, place.target, nowMs);
      this.#ids.set(flow, kept.id);
      flows.use(backOf(flow), 0, nowMs);
      return false;
    });
  }

  /** Those whose instances did not come are given up. */
  giveUp(): void {
    this.#removed.push(...this.#waiting.map(({ id }) => id));
    this.#waiting = [];
  }
}
