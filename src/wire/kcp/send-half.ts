import type { KcpMode } from "./kcp-mode.ts";
import { FlyingList, OutSegment } from "./out-segment.ts";
import { RateModel } from "./rate-model.ts";
import { RttEstimator } from "./rtt-estimator.ts";

export interface SendHalfOptions {
  readonly segmentBytes: number;
  readonly windowSegments: number;
  readonly mode: KcpMode;
}

/** An answer that comes in less than this share of the shortest round trip is one to an earlier transmission. */
const TOO_SOON = 0.8;
/** Waiting for late ones is unlearnt after so many round trips without any. */
const PATIENT_ROUND_TRIPS = 32;

/**
 * What is to be sent, what is on its way, and what of that is lost. A segment counts as lost when later
 * **transmissions** have arrived, so what was sent again is judged as exactly as what was sent once; where nothing
 * arrives at all, the oldest one alone is sent again, and its answer says what became of the others.
 */
export class SendHalf {
  readonly rtt: RttEstimator;
  readonly rate: RateModel;
  readonly #options: SendHalfOptions;
  readonly #ring: (OutSegment | undefined)[];
  readonly #flying = new FlyingList();
  readonly #free: OutSegment[] = [];
  #lost: OutSegment[] = [];
  #queue: OutSegment[] = [];
  #queueFrom = 0;
  queuedBytes = 0;
  /** The first that is not acknowledged, and the next that is sent for the first time. */
  una = 0;
  #next = 0;
  peerWindow: number;
  #orders = 0;
  #arrivedOrder = -1;
  #arrivedSentAtMs = Number.NEGATIVE_INFINITY;
  /** How much later than others one may come without being taken for lost. */
  #toleranceMs = 0;
  #toleranceSinceMs = 0;
  #probedAtMs = Number.NEGATIVE_INFINITY;
  #probes = 0;
  #delivered = 0;
  #deliveredAtMs = 0;
  #firstSentAtMs = 0;
  #appLimitedUntil = 0;
  #newest: OutSegment | undefined;
  #newestOrder = -1;
  #lostBytes = 0;
  resentSegments = 0;
  needlessResends = 0;

  constructor(options: SendHalfOptions) {
    this.#options = options;
    this.rtt = new RttEstimator(options.mode);
    this.rate = new RateModel(this.rtt, options.segmentBytes);
    this.#ring = new Array<OutSegment | undefined>(options.windowSegments).fill(undefined);
    this.peerWindow = options.windowSegments;
  }

  /** Takes a copy; segments are filled up as long as they have not been sent. */
  push(bytes: Uint8Array): void {
    this.queuedBytes += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      const segment = this.#openSegment();
      const count = Math.min(bytes.length - at, segment.bytes.length - segment.byteCount);
      segment.bytes.set(bytes.subarray(at, at + count), segment.byteCount);
      segment.byteCount += count;
      at += count;
    }
  }

  get flyingBytes(): number {
    return this.#flying.byteCount;
  }

  /** Everything was sent and has arrived. */
  get isIdle(): boolean {
    return this.queuedBytes === 0 && this.una === this.#next;
  }

  /** The peer has no room, though something waits. */
  get isShut(): boolean {
    return this.peerWindow === 0 && this.queuedBytes > 0 && this.una === this.#next;
  }

  /** Whether something could be sent, as far as windows go. */
  get hasSendable(): boolean {
    if (this.#flying.byteCount >= this.rate.windowBytes) return false;
    return this.#nextLost() !== undefined || this.#hasNew;
  }

  /** The next to be sent, which the caller sends; undefined where there is none. */
  take(nowMs: number): OutSegment | undefined {
    const lost = this.#nextLost();
    if (lost !== undefined) {
      this.#lost.shift();
      lost.isLost = false;
      lost.isListed = false;
      this.resentSegments += 1;
      return this.#sent(lost, nowMs);
    }
    if (!this.#hasNew) return undefined;
    const segment = this.#queue[this.#queueFrom];
    if (segment === undefined) return undefined;
    this.#queueFrom += 1;
    if (this.#queueFrom === this.#queue.length) {
      this.#queue = [];
      this.#queueFrom = 0;
    }
    this.queuedBytes -= segment.byteCount;
    segment.sn = this.#next;
    this.#next += 1;
    this.#ring[segment.sn % this.#ring.length] = segment;
    return this.#sent(segment, nowMs);
  }

  /** Nothing more waits, though more could be sent: what is measured now says nothing of the path. */
  noteAppLimited(): void {
    this.#appLimitedUntil = this.#delivered + this.#flying.byteCount;
  }

  /** All below `una` have come. */
  acknowledgeBelow(una: number, nowMs: number): void {
    while (this.una < una && this.una < this.#next) {
      this.#arrived(this.una, undefined, nowMs);
      this.una += 1;
    }
  }

  /** One has come; `ts` tells which transmission of it. */
  acknowledge(sn: number, ts: number | undefined, nowMs: number): void {
    if (sn >= this.una && sn < this.#next) this.#arrived(sn, ts, nowMs);
  }

  /** After all acknowledgements of a packet: what they say about losses and the path. */
  settle(nowMs: number): void {
    while (this.una < this.#next && this.#ring[this.una % this.#ring.length] === undefined) {
      this.una += 1;
    }
    this.#findLosses();
    const newest = this.#newest;
    if (newest === undefined) return;
    this.#newest = undefined;
    const elapsedMs = Math.max(
      newest.sentAtMs - newest.firstSentAtMs,
      this.#deliveredAtMs - newest.deliveredAtMs,
    );
    const isMeasurable = elapsedMs > 0 && elapsedMs >= this.rtt.minMs * TOO_SOON;
    this.rate.onAcknowledged({
      rate: isMeasurable ? (this.#delivered - newest.delivered) / elapsedMs : 0,
      isAppLimited: newest.isAppLimited,
      delivered: this.#delivered,
      deliveredAtSend: newest.delivered,
      lostBytes: this.#lostBytes,
      flyingBytes: this.#flying.byteCount,
      nowMs,
    });
    this.#lostBytes = 0;
    this.#recycle(newest);
  }

  /** When nothing has been heard for too long; infinite where nothing is on its way. */
  get probeAtMs(): number {
    const first = this.#flying.first;
    if (first === undefined) return Number.POSITIVE_INFINITY;
    const waitMs = this.rtt.rtoMs * this.#options.mode.backoff ** Math.min(this.#probes, 16);
    return Math.max(first.sentAtMs, this.#probedAtMs) + Math.min(waitMs, MAX_PROBE_MS);
  }

  /** Takes the oldest for lost where it is time to. */
  probe(nowMs: number): void {
    const first = this.#flying.first;
    if (first === undefined || nowMs < this.probeAtMs) return;
    this.#probedAtMs = nowMs;
    this.#probes += 1;
    this.#lose(first);
  }

  #openSegment(): OutSegment {
    const last = this.#queue[this.#queue.length - 1];
    if (last !== undefined && last.byteCount < last.bytes.length) return last;
    const segment = this.#free.pop() ?? new OutSegment(this.#options.segmentBytes);
    this.#queue.push(segment);
    return segment;
  }

  get #hasNew(): boolean {
    const room = Math.min(this.peerWindow, this.#options.windowSegments);
    return this.#queueFrom < this.#queue.length && this.#next < this.una + room;
  }

  /** The first that is lost still: some arrive after all. */
  #nextLost(): OutSegment | undefined {
    for (;;) {
      const first = this.#lost[0];
      if (first === undefined || first.isLost) return first;
      this.#lost.shift();
      first.isListed = false;
    }
  }

  #sent(segment: OutSegment, nowMs: number): OutSegment {
    if (this.#flying.first === undefined) {
      this.#firstSentAtMs = nowMs;
      this.#deliveredAtMs = nowMs;
    }
    segment.transmissions += 1;
    segment.sentAtMs = nowMs;
    segment.ts = Math.floor(nowMs) >>> 0;
    segment.order = this.#orders;
    this.#orders += 1;
    segment.delivered = this.#delivered;
    segment.deliveredAtMs = this.#deliveredAtMs;
    segment.firstSentAtMs = this.#firstSentAtMs;
    segment.isAppLimited = this.#appLimitedUntil > this.#delivered;
    this.#flying.append(segment);
    return segment;
  }

  #arrived(sn: number, ts: number | undefined, nowMs: number): void {
    const slot = sn % this.#ring.length;
    const segment = this.#ring[slot];
    if (segment === undefined) return;
    this.#ring[slot] = undefined;
    if (!segment.isLost) this.#flying.remove(segment);
    const tookMs = nowMs - segment.sentAtMs;
    const isOfLast = ts === undefined ? !this.#isTooSoon(segment, tookMs) : ts === segment.ts;
    if (segment.isLost || !isOfLast) this.#needless(segment, nowMs);
    segment.isLost = false;
    this.#delivered += segment.byteCount;
    this.#deliveredAtMs = nowMs;
    this.#probes = 0;
    if (!isOfLast) return;
    if (ts !== undefined) this.rtt.sample(tookMs, nowMs);
    if (segment.order > this.#arrivedOrder) {
      this.#arrivedOrder = segment.order;
      this.#arrivedSentAtMs = segment.sentAtMs;
    }
    if (this.#newest === undefined || segment.order > this.#newestOrder) {
      if (this.#newest !== undefined) this.#recycle(this.#newest);
      this.#newest = segment;
      this.#newestOrder = segment.order;
      this.#firstSentAtMs = segment.sentAtMs;
    } else this.#recycle(segment);
  }

  #isTooSoon(segment: OutSegment, tookMs: number): boolean {
    return segment.transmissions > 1 && tookMs < this.rtt.minMs * TOO_SOON;
  }

  /** It had come, only late: the path changes the order of packets, so be more patient. */
  #needless(segment: OutSegment, nowMs: number): void {
    if (!segment.isLost) this.needlessResends += 1;
    const { smoothedMs } = this.rtt;
    const next = Math.max(this.#toleranceMs * 2, smoothedMs / 16, 1);
    this.#toleranceMs = Math.min(next, Math.max(1, smoothedMs / 2));
    this.#toleranceSinceMs = nowMs;
  }

  #findLosses(): void {
    const { resendAfter } = this.#options.mode;
    const quietMs = this.#deliveredAtMs - this.#toleranceSinceMs;
    if (this.#toleranceMs > 0 && quietMs > PATIENT_ROUND_TRIPS * this.rtt.smoothedMs) {
      this.#toleranceMs = this.#toleranceMs < 1 ? 0 : this.#toleranceMs / 2;
      this.#toleranceSinceMs = this.#deliveredAtMs;
    }
    for (let first = this.#flying.first; first !== undefined; first = this.#flying.first) {
      if (this.#arrivedOrder - first.order < resendAfter) return;
      if (this.#arrivedSentAtMs - first.sentAtMs < this.#toleranceMs) return;
      this.#lose(first);
    }
  }

  #lose(segment: OutSegment): void {
    this.#flying.remove(segment);
    segment.isLost = true;
    segment.isListed = true;
    this.#lostBytes += segment.byteCount;
    this.#lost.push(segment);
  }

  #recycle(segment: OutSegment): void {
    if (segment.isListed || this.#free.length >= this.#options.windowSegments) return;
    segment.byteCount = 0;
    segment.transmissions = 0;
    this.#free.push(segment);
  }
}

const MAX_PROBE_MS = 10_000;
