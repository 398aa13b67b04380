import { sameWords } from "../../wire/ip/address-words.ts";
import { PROTOCOL_TCP, PROTOCOL_UDP, TCP_FIN, TCP_RST } from "../../wire/ip/ip-numbers.ts";
import type { IpPacket } from "../../wire/ip/ip-packet.ts";
import type { PacketEnds } from "../../wire/ip/translate.ts";
import type { LiveInstance } from "../table/live-instance.ts";
import { Flow, type FlowEnd, type FlowPlan, type FlowState } from "./flow.ts";
import { FlowList } from "./flow-list.ts";

/** How long a flow without packets is kept. */
export type FlowTimeouts = Readonly<Record<FlowState, number>>;

/** RFC 5382, REQ-5: 2 hours 4 minutes for a connection; RFC 4787, REQ-5; RFC 5508, REQ-1. */
const DEFAULT_TIMEOUTS_MS: FlowTimeouts = {
  asked: 60_000,
  closing: 120_000,
  echo: 60_000,
  datagrams: 180_000,
  connection: 7_440_000,
};

/** Where the table is full, the longest unused of the first of these that has any makes room. */
const GIVEN_UP_FIRST: readonly FlowState[] = [
  "asked",
  "closing",
  "echo",
  "datagrams",
  "connection",
];

const MIN_BUCKETS = 1024;

/** Who wants to know of connections, as they outlive a process. */
export interface ConnectionObserver<T> {
  established(flow: Flow<T>): void;
  /** Also of flows that were no connections. */
  removed(flow: Flow<T>): void;
}

/**
 * Flows by protocol and both ends, in both directions. It is bounded: what was never answered is given
 * up before what was, and connections last. The cost of a packet does not grow with the number of flows.
 */
export class FlowTable<T> {
  readonly #maxFlows: number;
  readonly #timeoutsMs: FlowTimeouts;
  readonly #lists: Readonly<Record<FlowState, FlowList<T>>> = {
    asked: new FlowList(),
    closing: new FlowList(),
    echo: new FlowList(),
    datagrams: new FlowList(),
    connection: new FlowList(),
  };
  readonly #observer: ConnectionObserver<T> | undefined;
  #buckets: (FlowEnd<T> | undefined)[] = new Array(MIN_BUCKETS).fill(undefined);
  #size = 0;
  #evicted = 0;

  constructor(options: {
    readonly maxFlows: number;
    readonly timeoutsMs?: FlowTimeouts;
    readonly observer?: ConnectionObserver<T>;
  }) {
    this.#observer = options.observer;
    this.#maxFlows = options.maxFlows;
    this.#timeoutsMs = options.timeoutsMs ?? DEFAULT_TIMEOUTS_MS;
  }

  get size(): number {
    return this.#size;
  }

  /** How many had to make room before their time. */
  get evicted(): number {
    return this.#evicted;
  }

  /** The direction of a flow that a packet belongs to. */
  find(packet: IpPacket): FlowEnd<T> | undefined {
    const hash = mix(packet.s2 ^ packet.s3, packet.d2 ^ packet.d3, packet.ports, packet.protocol);
    let end = this.#buckets[hash & (this.#buckets.length - 1)];
    while (end !== undefined && !end.matches(packet)) end = end.next;
    return end;
  }

  /** Whether packets with these ends belong to a flow. */
  has(protocol: number, ends: PacketEnds): boolean {
    let end = this.#buckets[this.#bucketOf(protocol, ends)];
    while (end !== undefined && !(end.flow.protocol === protocol && sameEnds(end.from, ends))) {
      end = end.next;
    }
    return end !== undefined;
  }

  /** Both directions must be free: see `has`. */
  add(plan: FlowPlan, instance: LiveInstance, target: T, nowMs: number): Flow<T> {
    if (this.#size >= this.#maxFlows) this.#makeRoom();
    if (this.#size >= this.#buckets.length) this.#grow();
    const flow = new Flow(plan, instance, target);
    flow.lastUsedMs = nowMs;
    this.#lists.asked.append(flow);
    this.#insert(flow.forward);
    this.#insert(flow.back);
    this.#size += 1;
    return flow;
  }

  /** A packet of it has come. */
  use(end: FlowEnd<T>, tcpFlags: number, nowMs: number): void {
    const { flow } = end;
    flow.lastUsedMs = nowMs;
    const state = nextState(flow, end.isBack, tcpFlags);
    if (state === flow.state) this.#lists[state].refresh(flow);
    else {
      this.#lists[flow.state].remove(flow);
      flow.state = state;
      this.#lists[state].append(flow);
      if (state === "connection") this.#observer?.established(flow);
    }
  }

  remove(flow: Flow<T>): void {
    this.#lists[flow.state].remove(flow);
    this.#take(flow.forward);
    this.#take(flow.back);
    this.#size -= 1;
    this.#observer?.removed(flow);
  }

  /** Forgets those that had no packet for too long; at most so many at once. Returns how many. */
  expire(nowMs: number, limit: number): number {
    let count = 0;
    for (const state of GIVEN_UP_FIRST) {
      for (;;) {
        const { oldest } = this.#lists[state];
        const isDue = oldest !== undefined && nowMs - oldest.lastUsedMs >= this.#timeoutsMs[state];
        if (!isDue || count >= limit) break;
        this.remove(oldest);
        count += 1;
      }
    }
    return count;
  }

  /** Some of them, those with the oldest packets first within each state. */
  *flows(): Generator<Flow<T>> {
    for (const state of GIVEN_UP_FIRST) {
      let flow = this.#lists[state].oldest;
      while (flow !== undefined) {
        yield flow;
        flow = flow.newer;
      }
    }
  }

  #makeRoom(): void {
    for (const state of GIVEN_UP_FIRST) {
      const { oldest } = this.#lists[state];
      if (oldest === undefined) continue;
      this.remove(oldest);
      this.#evicted += 1;
      return;
    }
  }

  #bucketOf(protocol: number, { source, destination, ports }: PacketEnds): number {
    const hash = mix(source.w2 ^ source.w3, destination.w2 ^ destination.w3, ports, protocol);
    return hash & (this.#buckets.length - 1);
  }

  #insert(end: FlowEnd<T>): void {
    const bucket = this.#bucketOf(end.flow.protocol, end.from);
    end.next = this.#buckets[bucket];
    this.#buckets[bucket] = end;
  }

  #take(end: FlowEnd<T>): void {
    const bucket = this.#bucketOf(end.flow.protocol, end.from);
    let at = this.#buckets[bucket];
    if (at === end) this.#buckets[bucket] = end.next;
    else {
      while (at !== undefined && at.next !== end) at = at.next;
      if (at !== undefined) at.next = end.next;
    }
    end.next = undefined;
  }

  /** Twice as many buckets: there are two ends for each flow, and as many buckets as flows at least. */
  #grow(): void {
    const before = this.#buckets;
    this.#buckets = new Array(before.length * 2).fill(undefined);
    for (const first of before) {
      let end = first;
      while (end !== undefined) {
        const { next } = end;
        this.#insert(end);
        end = next;
      }
    }
  }
}

function nextState<T>(flow: Flow<T>, isBack: boolean, tcpFlags: number): FlowState {
  if ((tcpFlags & (TCP_FIN | TCP_RST)) !== 0) return "closing";
  if (flow.state !== "asked" || !isBack) return flow.state;
  if (flow.protocol === PROTOCOL_TCP) return "connection";
  return flow.protocol === PROTOCOL_UDP ? "datagrams" : "echo";
}

function mix(source: number, destination: number, ports: number, protocol: number): number {
  let hash = Math.imul(source, 0x9e3779b1) ^ Math.imul(destination, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) ^ Math.imul(ports ^ protocol, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 13), 0x297a2d39);
  return hash ^ (hash >>> 16);
}

function sameEnds(a: PacketEnds, b: PacketEnds): boolean {
  return (
    a.ports === b.ports && sameWords(a.source, b.source) && sameWords(a.destination, b.destination)
  );
}
