import { FAMILIES } from "../../../core/model/address.ts";
import type { FlowTuple } from "../../../wire/netlink/conntrack/flow.ts";
import {
  TCP_ESTABLISHED,
  TCP_FLAG,
  type TcpFlow,
  type TcpFlowChange,
} from "../../../wire/netlink/conntrack/tcp-flow.ts";
import type { TcpFlowTable } from "../conntrack/tcp-flow-table.ts";
import { answerKeyOf, idOf, isSettled, type TakenFlow, tupleOf } from "./fast-flow.ts";
import { type FastPlane, MOST_TAKEN } from "./fast-plane.ts";

export interface ConnectionKeeperOptions {
  readonly plane: Pick<FastPlane, "takeSeen" | "taken" | "admit" | "remove">;
  readonly table: TcpFlowTable;
  /** How long the kernel remembers a connection that says nothing. */
  readonly establishedS: () => Promise<number>;
  readonly nowNs: () => bigint;
}

/** To ask for one takes some 40 µs; those beyond that are proposed again. */
export const MOST_AT_ONCE = 256;
/** Who says nothing for so long goes by the rules again. */
const RESTING_NS = 5_000_000_000n;

/**
 * Decides which connections take the fast path, and has the kernel track them so that they last.
 *
 * Tracking sees few packets of those that take it: it must not refuse what it did not expect (`beLiberal`), and that
 * of the last packets which it saw one was not acknowledged must not count against a connection that rests,
 * nor what it knows of sequence numbers against who ends it.
 */
export class ConnectionKeeper {
  readonly #options: ConnectionKeeperOptions;
  #size = 0;

  constructor(options: ConnectionKeeperOptions) {
    this.#options = options;
  }

  /** How many take the path, as far as is known: each direction by itself. */
  get size(): number {
    return this.#size;
  }

  /** Lets those take the path that were proposed and may. */
  async admit(): Promise<void> {
    const { plane, table } = this.#options;
    const room = Math.min(MOST_AT_ONCE, MOST_TAKEN - this.#size);
    const seen = plane.takeSeen().slice(0, room);
    if (seen.length === 0) return;
    const flows = await table.ask(seen.map(tupleOf));
    const fit = seen.filter((_, index) => mayTakePath(flows[index]));
    await table.change(
      flows
        .filter((flow) => flow !== undefined)
        .filter((flow) => mayTakePath(flow) && !isLiberal(flow))
        .map(({ original }) => ({ tuple: original, set: TCP_FLAG.beLiberal, clear: 0 })),
    );
    for (const flow of fit) plane.admit(flow);
    this.#size += fit.length;
  }

  /** Sends those by the rules again that rest. */
  async review(): Promise<void> {
    const { plane, nowNs } = this.#options;
    const taken = plane.taken();
    const restingSince = nowNs() - RESTING_NS;
    const byId = new Map(taken.map((flow) => [idOf(flow.key), flow]));
    const isResting = ({ untilNs }: TakenFlow): boolean => untilNs < restingSince;
    const answerOf = (flow: TakenFlow) => byId.get(idOf(answerKeyOf(flow)));
    const resting = taken.filter((flow) => {
      const answer = answerOf(flow);
      return isResting(flow) && (answer === undefined || isResting(answer));
    });
    plane.remove(resting);
    const settled = resting.filter((flow) => {
      const answer = answerOf(flow);
      return answer !== undefined && isSettled(flow, answer);
    });
    this.#size = taken.length - resting.length;
    await this.#letLast(settled.map(tupleOf));
  }

  /** Sends all by the rules again. */
  async dismiss(): Promise<void> {
    const { plane } = this.#options;
    const taken = plane.taken();
    plane.remove(taken);
    this.#size = 0;
    await this.#letLast(taken.map(tupleOf));
  }

  /** Of a process that ended before it could dismiss them. @returns how many there were */
  async recover(): Promise<number> {
    const left: FlowTuple[] = [];
    for (const family of FAMILIES) {
      await this.#options.table.list(family, (flow) => {
        if (flow.isTranslated && isLiberal(flow)) left.push(flow.original);
      });
    }
    await this.#letLast(left);
    return left.length;
  }

  async #letLast(tuples: readonly FlowTuple[]): Promise<void> {
    if (tuples.length === 0) return;
    const { table, establishedS } = this.#options;
    const timeoutS = await establishedS();
    const flows = await table.ask(tuples);
    const { dataUnacknowledged, maxAckSet } = TCP_FLAG;
    const changes = new Map<number, TcpFlowChange>();
    for (const flow of flows) {
      // One that has begun to close is not to last.
      if (flow?.state !== TCP_ESTABLISHED) continue;
      const { original: tuple, id } = flow;
      changes.set(id, { tuple, set: 0, clear: dataUnacknowledged | maxAckSet, timeoutS });
    }
    await table.change([...changes.values()]);
  }
}

/** Who reads along, or alters sequence numbers, has to see every packet. */
function mayTakePath(flow: TcpFlow | undefined): boolean {
  if (flow === undefined || flow.state !== TCP_ESTABLISHED) return false;
  const { isAssured, isTranslated, hasHelper, adjustsSequences } = flow;
  return isAssured && isTranslated && !hasHelper && !adjustsSequences;
}

function isLiberal({ flags }: TcpFlow): boolean {
  return (flags.original & flags.reply & TCP_FLAG.beLiberal) !== 0;
}
