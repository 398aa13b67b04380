import type { Family } from "../../../core/model/address.ts";
import type { FlowTuple } from "../../../wire/netlink/conntrack/flow.ts";
import type { TcpFlow, TcpFlowChange } from "../../../wire/netlink/conntrack/tcp-flow.ts";
import type { TcpFlowTable } from "./tcp-flow-table.ts";

/** Holds in memory what the kernel would track. */
export class FakeTcpFlowTable implements TcpFlowTable {
  /** As they are now; a test may add to them and remove from them. */
  readonly flows: TcpFlow[];
  /** All that were asked for, in order, also of flows that are not there. */
  readonly changes: TcpFlowChange[] = [];
  isClosed = false;
  /** Thrown by the next call. */
  failure: Error | undefined;

  constructor(flows: Iterable<TcpFlow> = []) {
    this.flows = [...flows];
  }

  async ask(tuples: readonly FlowTuple[]): Promise<readonly (TcpFlow | undefined)[]> {
    this.#begin();
    return tuples.map((tuple) => this.flows[this.#indexOf(tuple)]);
  }

  async change(changes: readonly TcpFlowChange[]): Promise<number> {
    this.#begin();
    this.changes.push(...changes);
    return changes.filter((change) => this.#apply(change)).length;
  }

  async list(family: Family, take: (flow: TcpFlow) => void): Promise<void> {
    this.#begin();
    for (const flow of [...this.flows]) if (flow.family === family) take(flow);
  }

  close(): void {
    this.isClosed = true;
  }

  #apply({ tuple, set, clear, timeoutS }: TcpFlowChange): boolean {
    const index = this.#indexOf(tuple);
    const flow = this.flows[index];
    if (flow === undefined) return false;
    const changed = (flags: number) => (flags & ~clear) | set;
    this.flows[index] = {
      ...flow,
      timeoutS: timeoutS ?? flow.timeoutS,
      flags: { original: changed(flow.flags.original), reply: changed(flow.flags.reply) },
    };
    return true;
  }

  #indexOf(tuple: FlowTuple): number {
    return this.flows.findIndex(
      ({ original, reply }) => isSame(original, tuple) || isSame(reply, tuple),
    );
  }

  #begin(): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
  }
}

function isSame(a: FlowTuple, b: FlowTuple): boolean {
  return a.src === b.src && a.srcPort === b.srcPort && a.dst === b.dst && a.dstPort === b.dstPort;
}
