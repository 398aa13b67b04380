import { FAMILIES } from "../../../core/model/address.ts";
import type { FlowTuple } from "../../../wire/netlink/conntrack/flow.ts";
import {
  TCP_ESTABLISHED,
  TCP_FLAG,
  type TcpFlow,
} from "../../../wire/netlink/conntrack/tcp-flow.ts";
import type { TcpFlowTable } from "../conntrack/tcp-flow-table.ts";
import {
  answerKeyOf,
  type FastFlow,
  idOf,
  isSameTuple,
  isSettled,
  leavingTupleOf,
  type TakenFlow,
  tupleOf,
  turned,
} from "./fast-flow.ts";
import { type FastPlane, MOST_TAKEN } from "./fast-plane.ts";
import { ProposedFlows } from "./proposed-flows.ts";
import { type RestedFlow, RestedFlows } from "./rested-flows.ts";

export interface ConnectionKeeperOptions {
  readonly plane: Pick<FastPlane, "takeSeen" | "taken" | "isTaken" | "admit" | "remove">;
  readonly table: TcpFlowTable;
  /** How long the kernel remembers a connection that says nothing. */
  readonly establishedS: () => Promise<number>;
  readonly nowNs: () => bigint;
  /** Below 1, and 0 or more. */
  readonly random: () => number;
}

/** To ask for one takes some 40 µs; those beyond that are proposed again. */
export const MOST_AT_ONCE = 256;
/** Who says nothing for so long goes by the rules again. */
const RESTING_NS = 5_000_000_000n;
/** Who owes an acknowledgement is forgotten after 300 s, unless told otherwise: for a while nothing came of it. */
const QUIET_S = 270;

/**
 * Decides which connections take the fast path, and has the kernel track them so that they last.
 *
 * Tracking sees few packets of those that take it: it must not refuse what it did not expect (`beLiberal`), and that
 * of the last packets which it saw one was not acknowledged must not count against a connection that rests,
 * nor what it knows of sequence numbers against who ends it. That may come to count later: where a connection that
 * rested sends a probe, tracking takes for data what it had missed before, and does not see it acknowledged.
 */
export class ConnectionKeeper {
  readonly #options: ConnectionKeeperOptions;
  readonly #proposed = new ProposedFlows();
  readonly #rested = new RestedFlows();
  /** Who rests, and the kernel is to be told so. */
  #toLast: readonly FlowTuple[] = [];
  /** Those that take the path, as far as is known. */
  #taken: Set<string> = new Set();

  constructor(options: ConnectionKeeperOptions) {
    this.#options = options;
  }

  /** How many take the path, as far as is known: each direction by itself. */
  get size(): number {
    return this.#taken.size;
  }

  /** Lets those take the path that were proposed and may. */
  async admit(): Promise<void> {
    const { plane, table } = this.#options;
    if (this.size > MOST_TAKEN - 2 * MOST_AT_ONCE) return;
    const known = this.#proposed.pair(plane.takeSeen(), (flow) =>
      plane.isTaken({ family: flow.family, key: answerKeyOf(flow) }),
    );
    const seen = this.#someOf(known).flat();
    if (seen.length === 0) return;
    const flows = await table.ask(seen.map(tupleOf));
    const fit = seen.filter(
      (flow, index) => mayTakePath(flows[index]) && isWayOf(flow, flows[index]),
    );
    const tracked = byIdOf(flows.filter(mayTakePath));
    await table.change(
      [...tracked.values()]
        .filter((flow) => !isLiberal(flow))
        .map(({ original }) => ({ tuple: original, set: TCP_FLAG.beLiberal, clear: 0 })),
    );
    for (const id of tracked.keys()) this.#rested.remove(id);
    for (const flow of fit) {
      plane.admit(flow);
      this.#taken.add(idOf(flow.key));
    }
  }

  /** From another place each time, so that nobody's turn never comes. */
  #someOf<T>(all: readonly T[]): readonly T[] {
    if (all.length <= MOST_AT_ONCE) return all;
    const from = Math.floor(this.#options.random() * all.length);
    return [...all.slice(from), ...all.slice(0, from)].slice(0, MOST_AT_ONCE);
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
      return answer === undefined || isSettled(flow, answer);
    });
    for (const { key } of resting) byId.delete(idOf(key));
    this.#taken = new Set(byId.keys());
    this.#proposed.age();
    this.#toLast = [...this.#toLast, ...settled.map(tupleOf)].slice(-MOST_TAKEN);
    await this.#reviewRested();
    await this.#letLast(this.#toLast);
    this.#toLast = [];
  }

  /** Sends all by the rules again. */
  async dismiss(): Promise<void> {
    const { plane } = this.#options;
    const taken = plane.taken();
    plane.remove(taken);
    this.#taken.clear();
    await this.#letLast([...this.#toLast, ...taken.map(tupleOf)]);
    this.#toLast = [];
  }

  /** Of a process that ended before it could dismiss them. @returns how many there were */
  async recover(): Promise<number> {
    const left: FlowTuple[] = [];
    for (const family of FAMILIES) {
      await this.#options.table.list(family, (flow) => {
        if (flow.isTranslated && isLiberal(flow)) left.push(flow.original);
      });
    }
    return this.#letLast(left);
  }

  /** @returns how many: one that has begun to close is not to last */
  async #letLast(tuples: readonly FlowTuple[]): Promise<number> {
    if (tuples.length === 0) return 0;
    const flows = await this.#options.table.ask(tuples);
    const open = byIdOf(flows.filter((flow) => flow?.state === TCP_ESTABLISHED));
    await this.#owesNothing([...open.values()]);
    for (const { id, original: tuple } of open.values()) this.#rested.add({ id, tuple });
    return open.size;
  }

  async #reviewRested(): Promise<void> {
    const rested = this.#rested.turn();
    if (rested.length === 0) return;
    const flows = await this.#options.table.ask(rested.map(({ tuple }) => tuple));
    const wrong = new Map<RestedFlow, TcpFlow>();
    for (const [index, one] of rested.entries()) {
      const flow = flows[index];
      if (flow?.id !== one.id || flow.state !== TCP_ESTABLISHED) this.#rested.remove(one.id);
      else if (owes(flow) && flow.timeoutS <= QUIET_S) wrong.set(one, flow);
    }
    await this.#owesNothing([...wrong.values()]);
    for (const one of wrong.keys()) this.#rested.correct(one);
  }

  async #owesNothing(flows: readonly TcpFlow[]): Promise<void> {
    if (flows.length === 0) return;
    const { table, establishedS } = this.#options;
    const timeoutS = await establishedS();
    const clear = TCP_FLAG.dataUnacknowledged | TCP_FLAG.maxAckSet;
    await table.change(flows.map(({ original }) => ({ tuple: original, set: 0, clear, timeoutS })));
  }
}

/** Who reads along, or alters sequence numbers, has to see every packet. */
function mayTakePath(flow: TcpFlow | undefined): boolean {
  if (flow === undefined || flow.state !== TCP_ESTABLISHED) return false;
  const { isAssured, isTranslated, hasHelper, adjustsSequences } = flow;
  return isAssured && isTranslated && !hasHelper && !adjustsSequences;
}

/** Whether it leaves as the kernel translates it: what was learned is of one packet, which its sender made. */
function isWayOf(flow: FastFlow, tracked: TcpFlow | undefined): boolean {
  if (tracked === undefined) return false;
  const { original, reply } = tracked;
  const isOriginal = isSameTuple(tupleOf(flow), original);
  return isSameTuple(leavingTupleOf(flow), turned(isOriginal ? reply : original));
}

/** Both directions may have been asked for. */
function byIdOf(flows: readonly (TcpFlow | undefined)[]): ReadonlyMap<number, TcpFlow> {
  return new Map(flows.flatMap((flow) => (flow === undefined ? [] : [[flow.id, flow] as const])));
}

function isLiberal({ flags }: TcpFlow): boolean {
  return (flags.original & flags.reply & TCP_FLAG.beLiberal) !== 0;
}

/** Whether an end, as far as the kernel saw, has not acknowledged all. */
function owes({ flags }: TcpFlow): boolean {
  return ((flags.original | flags.reply) & TCP_FLAG.dataUnacknowledged) !== 0;
}
