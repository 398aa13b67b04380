import { KcpArq } from "./kcp-arq.ts";
import { DEFAULT_FAST_LEVEL, KCP_MODES } from "./kcp-mode.ts";
import { COMMAND, SegmentReader } from "./segment.ts";

export interface Bottleneck {
  readonly lossRate: number;
  readonly megabits: number;
  /** What waits before it, at most. */
  readonly queueMs: number;
  /** Both ways together. */
  readonly rttMs: number;
  /** Nobody is called but at multiples of this. */
  readonly tickMs: number;
}

export interface BottleneckRun {
  /** Of the payload. */
  readonly megabits: number;
  /** Bytes of packets that were sent for each of the payload. */
  readonly sentShare: number;
  readonly lostPackets: number;
  /** Of these, by a queue that was full. */
  readonly overflowedPackets: number;
  readonly resentSegments: number;
  /** Of these, how many arrived more than once. */
  readonly doubledSegments: number;
  /** What a packet found in the queue, in the mean of the second half. */
  readonly meanQueueMs: number;
}

const PACKET_BYTES = 1372;
/** Of what seals a packet, UDP and IP. */
const OVERHEAD_BYTES = 56;
const KEPT_BYTES = 32_768;

/** Sends as much as it can for so long over a path with a bottleneck, whose chance is always the same. */
export function sendThrough(path: Bottleneck, seconds: number): BottleneckRun {
  const options = {
    conv: 0,
    packetBytes: PACKET_BYTES,
    windowSegments: 4096,
    mode: KCP_MODES[DEFAULT_FAST_LEVEL],
  };
  const [sender, receiver] = [new KcpArq(options), new KcpArq(options)];
  const there = new Direction(path, 1);
  const back = new Direction(path, 2);
  const packet = new Uint8Array(PACKET_BYTES);
  const chunk = new Uint8Array(8192);
  const limitMs = seconds * 1000;
  const arrived = new Set<number>();
  let doubledSegments = 0;
  const arrive = (bytes: Uint8Array, nowMs: number): void => {
    for (const reader = new SegmentReader(bytes); reader.next(); ) {
      if (reader.command !== COMMAND.PUSH) continue;
      if (arrived.has(reader.sn)) doubledSegments += 1;
      arrived.add(reader.sn);
    }
    receiver.input(bytes, nowMs);
  };
  let receivedBytes = 0;
  for (let nowMs = 0; nowMs < limitMs; ) {
    do {
      while (sender.queuedBytes < KEPT_BYTES) sender.push(chunk);
      sender.flush(nowMs, packet, (count) => there.take(packet.slice(0, count), nowMs));
    } while (sender.queuedBytes < KEPT_BYTES);
    receiver.flush(nowMs, packet, (count) => back.take(packet.slice(0, count), nowMs));
    const dueMs = Math.min(
      sender.nextAtMs(nowMs),
      receiver.nextAtMs(nowMs),
      there.nextAtMs,
      back.nextAtMs,
    );
    nowMs = Math.max(nowMs + 0.01, Math.ceil(dueMs / path.tickMs) * path.tickMs);
    there.deliver(nowMs, (bytes) => arrive(bytes, nowMs));
    back.deliver(nowMs, (bytes) => sender.input(bytes, nowMs));
    for (let part = receiver.read(); part !== undefined; part = receiver.read()) {
      receivedBytes += part.length;
    }
  }
  return {
    megabits: (receivedBytes * 8) / limitMs / 1000,
    sentShare: there.bytes / receivedBytes,
    lostPackets: there.lost,
    overflowedPackets: there.overflowed,
    resentSegments: sender.resentSegments,
    doubledSegments,
    meanQueueMs: there.meanQueueMs(limitMs / 2),
  };
}

/** Packets leave one after the other, and arrive later, or never. */
class Direction {
  readonly #path: Bottleneck;
  readonly #bytesPerMs: number;
  readonly #chance: () => number;
  #flying: { readonly atMs: number; readonly bytes: Uint8Array }[] = [];
  #freeAtMs = 0;
  bytes = 0;
  lost = 0;
  overflowed = 0;
  readonly #waits: { readonly atMs: number; readonly queueMs: number }[] = [];

  constructor(path: Bottleneck, seed: number) {
    this.#path = path;
    this.#bytesPerMs = (path.megabits * 1e6) / 8 / 1000;
    this.#chance = chanceOf(seed);
  }

  get nextAtMs(): number {
    return this.#flying[0]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  take(bytes: Uint8Array, nowMs: number): void {
    const byteCount = bytes.length + OVERHEAD_BYTES;
    this.bytes += byteCount;
    const startMs = Math.max(nowMs, this.#freeAtMs);
    const isFull = startMs - nowMs > this.#path.queueMs;
    this.#waits.push({ atMs: nowMs, queueMs: startMs - nowMs });
    if (isFull) this.overflowed += 1;
    else this.#freeAtMs = startMs + byteCount / this.#bytesPerMs;
    if (isFull || this.#chance() < this.#path.lossRate) {
      this.lost += 1;
      return;
    }
    this.#flying.push({ atMs: this.#freeAtMs + this.#path.rttMs / 2, bytes });
  }

  meanQueueMs(sinceMs: number): number {
    const waits = this.#waits.filter(({ atMs }) => atMs >= sinceMs);
    return waits.reduce((sum, { queueMs }) => sum + queueMs, 0) / waits.length;
  }

  deliver(nowMs: number, arrive: (bytes: Uint8Array) => void): void {
    const due = this.#flying.findIndex(({ atMs }) => atMs > nowMs);
    const arrived = this.#flying.splice(0, due < 0 ? this.#flying.length : due);
    for (const { bytes } of arrived) arrive(bytes);
  }
}

/** Numbers from 0 to 1 that are the same each time (mulberry32). */
function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
