import { type AddressWords, sameWords } from "../../wire/ip/address-words.ts";
import { PROTOCOL_TCP, PROTOCOL_UDP, TCP_FIN, TCP_RST } from "../../wire/ip/ip-numbers.ts";
import type { IpPacket } from "../../wire/ip/ip-packet.ts";
import type { PacketEnds, Translation } from "../../wire/ip/translate.ts";
import type { LiveInstance } from "../table/live-instance.ts";
import {
  backOf,
  FLOW_STATES,
  type Flow,
  type FlowEnd,
  type FlowPlace,
  type FlowPlan,
  type FlowState,
  forwardOf,
  isBack,
  NO_FLOW,
} from "./flow.ts";
import { addressHash, flowHash } from "./flow-hash.ts";
import { FlowList } from "./flow-list.ts";
import type { FlowMirror } from "./flow-mirror.ts";
import { FlowPlaces } from "./flow-places.ts";
import { FlowRecords } from "./flow-records.ts";

/** How long a flow without packets is kept. */
export type FlowTimeouts = Readonly<Record<FlowState, number>>;

/**
 * RFC 5382, REQ-5: 2 hours 4 minutes for a connection, 4 minutes for one that begins or ends, which may still be
 * half open; RFC 4787, REQ-5; RFC 5508, REQ-1.
 */
const DEFAULT_TIMEOUTS_MS: FlowTimeouts = {
  asked: 240_000,
  closing: 240_000,
  echo: 60_000,
  datagrams: 300_000,
  connection: 7_440_000,
};

const [ASKED, CLOSING, ECHO, DATAGRAMS, CONNECTION] = [0, 1, 2, 3, 4] as const;
const STATES = FLOW_STATES.map((_, state) => state);

/** When a flow was used last is known to so small a part of the shortest time. */
const REFRESHES = 128;

/** So many that were used elsewhere are passed over where room is to be made. */
const MOST_SPARED = 16;

/** Who wants to know of connections, as they outlive a process. Flows are told by their direction to the server. */
export interface ConnectionObserver {
  established(flow: FlowEnd): void;
  /** Also of flows that were no connections. */
  removed(flow: FlowEnd): void;
}

/**
 * Flows by protocol and both ends, in both directions. It is bounded: what was never answered is given
 * up before what was, and connections last. The cost of a packet does not grow with the number of flows: it finds
 * its flow with one or two steps, and each of these touches one line of a cache.
 */
export class FlowTable<T> {
  readonly #maxFlows: number;
  readonly #timeoutsMs: readonly number[];
  readonly #refreshMs: number;
  /** Who chooses ports and addresses shall not choose buckets with them. */
  readonly #seed: number = Math.trunc(Math.random() * 2 ** 32) | 0;
  readonly #records: FlowRecords;
  readonly #places = new FlowPlaces<T>();
  readonly #lists: readonly FlowList[];
  /** Those that were used before, the last one first. */
  readonly #unused: FlowList;
  readonly #observer: ConnectionObserver | undefined;
  readonly #mirror: FlowMirror<T> | undefined;
  /** The first direction with a hash, with 1 added. */
  readonly #buckets: Int32Array;
  #neverUsed: FlowEnd = 0;
  #size = 0;
  #evicted = 0;

  constructor(options: {
    readonly maxFlows: number;
    readonly timeoutsMs?: FlowTimeouts;
    readonly observer?: ConnectionObserver | undefined;
    readonly mirror?: FlowMirror<T> | undefined;
  }) {
    const timeoutsMs = options.timeoutsMs ?? DEFAULT_TIMEOUTS_MS;
    this.#observer = options.observer;
    this.#mirror = options.mirror;
    this.#maxFlows = options.maxFlows;
    this.#timeoutsMs = FLOW_STATES.map((state) => timeoutsMs[state]);
    this.#refreshMs = Math.min(...this.#timeoutsMs) / REFRESHES;
    this.#records = new FlowRecords(options.maxFlows);
    this.#lists = FLOW_STATES.map(() => new FlowList(this.#records));
    this.#unused = new FlowList(this.#records);
    // Twice as many as there are directions: most of these are the first ones then.
    this.#buckets = new Int32Array(2 ** Math.ceil(Math.log2(4 * options.maxFlows)));
  }

  get size(): number {
    return this.#size;
  }

  /** How many had to make room before their time. */
  get evicted(): number {
    return this.#evicted;
  }

  /** The direction of a flow that a packet belongs to, or NO_FLOW. */
  find(packet: IpPacket): FlowEnd {
    const { isV6 } = packet;
    const seed = this.#seed;
    const from = addressHash(seed, isV6, packet.s0, packet.s1, packet.s2, packet.s3);
    const to = addressHash(seed, isV6, packet.d0, packet.d1, packet.d2, packet.d3);
    const hash = flowHash(from, to, packet.ports, packet.protocol);
    const records = this.#records;
    let end = (this.#buckets[hash & (this.#buckets.length - 1)] ?? 0) - 1;
    while (end !== NO_FLOW && !records.matches(end, packet)) end = records.nextOf(end) - 1;
    return end;
  }

  /** Whether packets with these ends belong to a flow. */
  has(protocol: number, ends: PacketEnds): boolean {
    const records = this.#records;
    const isOther = (end: FlowEnd): boolean =>
      records.protocolOf(end) !== protocol || !sameEnds(records.fromOf(end), ends);
    let end = (this.#buckets[this.#bucketOf(protocol, ends)] ?? 0) - 1;
    while (end !== NO_FLOW && isOther(end)) end = records.nextOf(end) - 1;
    return end !== NO_FLOW;
  }

  /** Both directions must be free: see `has`. Returns the one to the server. */
  add(plan: FlowPlan, instance: LiveInstance, target: T, nowMs: number): FlowEnd {
    if (this.#size >= this.#maxFlows) this.#makeRoom();
    const flow = this.#takeUnused();
    const records = this.#records;
    records.put(flow, plan.protocol, plan.asked, plan.sent);
    records.put(backOf(flow), plan.protocol, plan.answered, plan.returned);
    const place = this.#places.take(instance, target);
    records.setPlace(flow, place);
    records.setState(flow, ASKED);
    records.setLastUsed(flow, nowMs);
    this.#list(ASKED).append(flow);
    this.#insert(flow);
    this.#insert(backOf(flow));
    this.#size += 1;
    this.#mirror?.added(plan, place, { instance, target });
    return flow;
  }

  /** A packet of it has come. */
  use(end: FlowEnd, tcpFlags: number, nowMs: number): void {
    const records = this.#records;
    const before = records.stateOf(end);
    const state = this.#nextState(end, before, tcpFlags);
    if (state === before) {
      // To the end of its list, past others that no cache holds: not for each packet.
      if (nowMs - records.lastUsedMs(end) < this.#refreshMs) return;
      records.setLastUsed(end, nowMs);
      this.#list(state).refresh(forwardOf(end));
    } else {
      const flow = forwardOf(end);
      records.setLastUsed(flow, nowMs);
      this.#list(before).remove(flow);
      records.setState(flow, state);
      this.#list(state).append(flow);
      if (state === CONNECTION) this.#observer?.established(flow);
      this.#mirror?.setOpen(this.#planOf(flow), records.placeOf(flow), state !== CLOSING);
    }
  }

  /** Where its packets go that are sent to the server. */
  placeOf(end: FlowEnd): FlowPlace<T> {
    return this.#places.at(this.#records.placeOf(end));
  }

  isClosing(end: FlowEnd): boolean {
    return this.#records.stateOf(end) === CLOSING;
  }

  /** What becomes of its packets in this direction, written into `into`. */
  loadTranslation(end: FlowEnd, into: Translation): void {
    this.#records.load(end, into);
  }

  /** How packets of this direction look when they come, and when they go. */
  endsOf(end: FlowEnd): { readonly from: PacketEnds; readonly to: PacketEnds } {
    return { from: this.#records.fromOf(end), to: this.#records.toOf(end) };
  }

  /** All that is known of the flow of a direction. */
  flowOf(end: FlowEnd): Flow<T> {
    const { instance, target } = this.placeOf(end);
    const state = FLOW_STATES[this.#records.stateOf(end)] ?? "asked";
    return { plan: this.#planOf(end), instance, target, state };
  }

  /** Forgets the flow that has this direction. */
  remove(end: FlowEnd): void {
    const flow = forwardOf(end);
    this.#mirror?.removed(this.#planOf(flow));
    this.#list(this.#records.stateOf(flow)).remove(flow);
    this.#take(flow);
    this.#take(backOf(flow));
    this.#places.release(this.#records.placeOf(flow));
    this.#unused.append(flow);
    this.#size -= 1;
    this.#observer?.removed(flow);
  }

  /** Forgets those that had no packet for too long; looks at so many at most. Returns at how many. */
  expire(nowMs: number, limit: number): number {
    let count = 0;
    for (const state of STATES) {
      const timeoutMs = this.#timeoutsMs[state] ?? 0;
      for (;;) {
        const { oldest } = this.#list(state);
        const isDue = oldest !== NO_FLOW && nowMs - this.#records.lastUsedMs(oldest) >= timeoutMs;
        if (!isDue || count >= limit) break;
        count += 1;
        if (!this.#wasUsedElsewhere(oldest, state)) this.remove(oldest);
      }
    }
    return count;
  }

  /** Some of them, those with the oldest packets first within each state. */
  *flows(): Generator<Flow<T>> {
    for (const end of this.ends()) yield this.flowOf(end);
  }

  /** The same by their directions to the server. */
  *ends(): Generator<FlowEnd> {
    for (const state of STATES) {
      let flow = this.#list(state).oldest;
      while (flow !== NO_FLOW) {
        yield flow;
        flow = this.#records.newerOf(flow) - 1;
      }
    }
  }

  #list(state: number): FlowList {
    const list = this.#lists[state];
    if (list === undefined) throw new Error(`no flow has state ${state}`);
    return list;
  }

  #takeUnused(): FlowEnd {
    const { oldest } = this.#unused;
    if (oldest === NO_FLOW) {
      this.#neverUsed += 2;
      return this.#neverUsed - 2;
    }
    this.#unused.remove(oldest);
    return oldest;
  }

  #makeRoom(): void {
    for (const state of STATES) {
      const list = this.#list(state);
      if (list.oldest === NO_FLOW) continue;
      for (let spared = 0; spared < MOST_SPARED; spared += 1) {
        if (!this.#wasUsedElsewhere(list.oldest, state)) break;
      }
      this.remove(list.oldest);
      this.#evicted += 1;
      return;
    }
  }

  /** The mirror passed packets of it on since it was last used here: that counts from now on. */
  #wasUsedElsewhere(flow: FlowEnd, state: number): boolean {
    if (this.#mirror === undefined || state === ASKED || state === CLOSING) return false;
    const lastUsedMs = this.#mirror.lastUsedMs(this.#planOf(flow));
    if (lastUsedMs <= this.#records.lastUsedMs(flow)) return false;
    this.#records.setLastUsed(flow, lastUsedMs);
    this.#list(state).refresh(flow);
    return true;
  }

  #planOf(end: FlowEnd): FlowPlan {
    const [to, back] = [this.endsOf(forwardOf(end)), this.endsOf(backOf(end))];
    return {
      protocol: this.#records.protocolOf(end),
      asked: to.from,
      sent: to.to,
      answered: back.from,
      returned: back.to,
    };
  }

  #nextState(end: FlowEnd, state: number, tcpFlags: number): number {
    if ((tcpFlags & (TCP_FIN | TCP_RST)) !== 0) return CLOSING;
    if (state !== ASKED || !isBack(end)) return state;
    const protocol = this.#records.protocolOf(end);
    if (protocol === PROTOCOL_TCP) return CONNECTION;
    return protocol === PROTOCOL_UDP ? DATAGRAMS : ECHO;
  }

  #bucketOf(protocol: number, { source, destination, ports }: PacketEnds): number {
    const hash = flowHash(this.#hashOf(source), this.#hashOf(destination), ports, protocol);
    return hash & (this.#buckets.length - 1);
  }

  #hashOf({ isV6, w0, w1, w2, w3 }: AddressWords): number {
    return addressHash(this.#seed, isV6, w0, w1, w2, w3);
  }

  #bucketOfEnd(end: FlowEnd): number {
    return this.#bucketOf(this.#records.protocolOf(end), this.#records.fromOf(end));
  }

  #insert(end: FlowEnd): void {
    const bucket = this.#bucketOfEnd(end);
    this.#records.setNext(end, this.#buckets[bucket] ?? 0);
    this.#buckets[bucket] = end + 1;
  }

  #take(end: FlowEnd): void {
    const records = this.#records;
    const bucket = this.#bucketOfEnd(end);
    const first = (this.#buckets[bucket] ?? 0) - 1;
    if (first === end) {
      this.#buckets[bucket] = records.nextOf(end);
      return;
    }
    let at = first;
    while (at !== NO_FLOW && records.nextOf(at) !== end + 1) at = records.nextOf(at) - 1;
    if (at !== NO_FLOW) records.setNext(at, records.nextOf(end));
  }
}

function sameEnds(a: PacketEnds, b: PacketEnds): boolean {
  return (
    a.ports === b.ports && sameWords(a.source, b.source) && sameWords(a.destination, b.destination)
  );
}
