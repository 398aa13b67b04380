import { type FlowEnd, NO_FLOW } from "./flow.ts";
import type { FlowRecords } from "./flow-records.ts";

/** Flows in the order of their last packets, each by its direction to the server. */
export class FlowList {
  readonly #records: FlowRecords;
  #oldest: FlowEnd = NO_FLOW;
  #newest: FlowEnd = NO_FLOW;

  constructor(records: FlowRecords) {
    this.#records = records;
  }

  /** NO_FLOW where it is empty. */
  get oldest(): FlowEnd {
    return this.#oldest;
  }

  append(flow: FlowEnd): void {
    this.#records.setOlder(flow, this.#newest + 1);
    this.#records.setNewer(flow, 0);
    if (this.#newest === NO_FLOW) this.#oldest = flow;
    else this.#records.setNewer(this.#newest, flow + 1);
    this.#newest = flow;
  }

  remove(flow: FlowEnd): void {
    const older = this.#records.olderOf(flow);
    const newer = this.#records.newerOf(flow);
    if (older === 0) this.#oldest = newer - 1;
    else this.#records.setNewer(older - 1, newer);
    if (newer === 0) this.#newest = older - 1;
    else this.#records.setOlder(newer - 1, older);
  }

  refresh(flow: FlowEnd): void {
    if (flow === this.#newest) return;
    this.remove(flow);
    this.append(flow);
  }
}
