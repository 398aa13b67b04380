import type { Flow } from "./flow.ts";

/** Flows in the order of their last packets. */
export class FlowList<T> {
  #oldest: Flow<T> | undefined;
  #newest: Flow<T> | undefined;

  get oldest(): Flow<T> | undefined {
    return this.#oldest;
  }

  append(flow: Flow<T>): void {
    flow.older = this.#newest;
    flow.newer = undefined;
    if (this.#newest === undefined) this.#oldest = flow;
    else this.#newest.newer = flow;
    this.#newest = flow;
  }

  remove(flow: Flow<T>): void {
    if (flow.older === undefined) this.#oldest = flow.newer;
    else flow.older.newer = flow.newer;
    if (flow.newer === undefined) this.#newest = flow.older;
    else flow.newer.older = flow.older;
    flow.older = undefined;
    flow.newer = undefined;
  }

  refresh(flow: Flow<T>): void {
    if (flow === this.#newest) return;
    this.remove(flow);
    this.append(flow);
  }
}
