import { formatSocketAddress, type SocketAddress } from "../../platform/socket-address.ts";
import { seededRandom } from "./random.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** Conditions between hosts; they may be changed at any time. */
export interface LinkConditions {
  readonly latencyMs: number;
  /** Added to the latency, up to so much, at random. */
  readonly jitterMs: number;
  /** Of packets, 0 to 1. Streams send again; datagrams are gone. */
  readonly lossRate: number;
  /** What of datagrams passes in a second, in each direction; they wait in a queue, and are lost where that is full. */
  readonly megabits: number;
  readonly queueMs: number;
}

const PERFECT: LinkConditions = {
  latencyMs: 0,
  jitterMs: 0,
  lossRate: 0,
  megabits: Number.POSITIVE_INFINITY,
  queueMs: Number.POSITIVE_INFINITY,
};
/** Of UDP and IPv4. */
const HEADER_BYTES = 28;
/** Sending again: after so long, twice as long each time, up to the most. */
const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 10_000;

/**
 * Hosts and the links between them, in one process and with a virtual clock. The same seed and the
 * same calls give the same run.
 */
export class SimulatedNetwork {
  readonly clock: VirtualClock;
  readonly #random: () => number;
  readonly #partitions = new Set<string>();
  /** Until when each direction of a link is busy with what was sent. */
  readonly #busyUntilMs = new Map<string, number>();
  #conditions: LinkConditions;
  /** Datagrams that found the queue of a link full. */
  overflowed = 0;

  constructor(options: {
    readonly seed: number;
    readonly conditions?: Partial<LinkConditions>;
    readonly clock?: VirtualClock;
  }) {
    this.clock = options.clock ?? new VirtualClock();
    this.#random = seededRandom(options.seed);
    this.#conditions = { ...PERFECT, ...options.conditions };
  }

  /** Changes what holds between all hosts; inside a host nothing is lost or late. */
  change(conditions: Partial<LinkConditions>): void {
    this.#conditions = { ...this.#conditions, ...conditions };
  }

  /** Nothing passes between the two hosts until `heal`. */
  partition(hostA: string, hostB: string): void {
    this.#partitions.add(linkOf(hostA, hostB));
  }

  heal(hostA: string, hostB: string): void {
    this.#partitions.delete(linkOf(hostA, hostB));
  }

  /** Delivers once, or never: a datagram. */
  deliverOrDrop(from: string, to: string, byteCount: number, deliver: () => void): void {
    const passedMs = this.#passedMs(from, to, byteCount);
    if (passedMs === undefined || this.#isLost(from, to)) return;
    this.clock.callAt(passedMs + this.#delayMs(from, to), () => {
      if (!this.#partitions.has(linkOf(from, to))) deliver();
    });
  }

  /** How long a packet takes that is sent again until it arrives; undefined: not in `patienceMs`. */
  arrivalMs(from: string, to: string, patienceMs: number): number | undefined {
    let lateMs = 0;
    let retryMs = FIRST_RETRY_MS;
    while (this.#isLost(from, to)) {
      lateMs += retryMs;
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
      if (lateMs > patienceMs) return undefined;
    }
    return lateMs + this.#delayMs(from, to);
  }

  isPartitioned(from: string, to: string): boolean {
    return this.#partitions.has(linkOf(from, to));
  }

  /** When the last bit of a datagram is on the link; undefined where there is no room for it. */
  #passedMs(from: string, to: string, byteCount: number): number | undefined {
    const nowMs = this.clock.nowMs();
    const { megabits, queueMs } = this.#conditions;
    if (from === to || megabits === Number.POSITIVE_INFINITY) return nowMs;
    const direction = `${from} ${to}`;
    const startMs = Math.max(nowMs, this.#busyUntilMs.get(direction) ?? 0);
    if (startMs - nowMs > queueMs) {
      this.overflowed += 1;
      return undefined;
    }
    const passedMs = startMs + ((byteCount + HEADER_BYTES) * 8) / (megabits * 1000);
    this.#busyUntilMs.set(direction, passedMs);
    return passedMs;
  }

  #isLost(from: string, to: string): boolean {
    return from !== to && this.#random() < this.#conditions.lossRate;
  }

  #delayMs(from: string, to: string): number {
    if (from === to) return 0;
    return this.#conditions.latencyMs + this.#random() * this.#conditions.jitterMs;
  }
}

function linkOf(hostA: string, hostB: string): string {
  return hostA < hostB ? `${hostA} ${hostB}` : `${hostB} ${hostA}`;
}

/** The sockets of a host by address; a wildcard address answers for all of its port. */
export class BoundTable<T> {
  readonly #bound = new Map<string, T>();

  find(address: SocketAddress): T | undefined {
    return this.#bound.get(formatSocketAddress(address)) ?? this.#bound.get(wildcardOf(address));
  }

  has(address: SocketAddress): boolean {
    return this.find(address) !== undefined;
  }

  set(address: SocketAddress, owner: T): void {
    this.#bound.set(formatSocketAddress(address), owner);
  }

  delete(address: SocketAddress): void {
    this.#bound.delete(formatSocketAddress(address));
  }
}

function wildcardOf(address: SocketAddress): string {
  if (address.family === "unix") return "";
  return formatSocketAddress({ ...address, ip: address.family === "v4" ? "0.0.0.0" : "::" });
}
