import type { RttEstimator } from "./rtt-estimator.ts";

/** What one batch of acknowledgements says. */
export interface RateSample {
  /** Bytes a millisecond that arrived, over one way there and back; 0 where it can not be told. */
  readonly rate: number;
  /** There was nothing more to send: the path could perhaps do better. */
  readonly isAppLimited: boolean;
  /** Of all bytes: how many have arrived so far, and had when the newest of these was sent. */
  readonly delivered: number;
  readonly deliveredAtSend: number;
  /** Bytes found to be lost since the last sample. */
  readonly lostBytes: number;
  readonly flyingBytes: number;
  readonly nowMs: number;
}

const STARTUP_GAIN = 2.885;
/** From the start on: of a queue that holds as much as the path itself, nothing then overflows. */
const WINDOW_GAIN = 2;
/** Looks for more, makes up for it, and then goes steadily: one round each. */
const CYCLE: readonly number[] = [1.2, 0.8, 1, 1, 1, 1, 1, 1];
const RATE_ROUNDS = 10;
const GROWTH = 1.25;
const FINDING = 1.05;
const FLAT_ROUNDS = 3;
const MAX_LOSS_SHARE = 0.4;
const LOSS_SMOOTHING = 0.3;
/** In this round of the cycle the least is sent, and in the next one it is known what became of that. */
const LEAN_ROUND = 1;
/** What is sent before a full queue, of the rate of arrival: so it becomes shorter again. */
const QUEUED_GAIN = 0.93;
/** A queue counts from so much on, as timers and acknowledgements are late, and is full at this share of the way. */
const QUEUE_SLACK_MS = 8;
const FULL_QUEUE_SHARE = 0.25;
/** The share of a full queue that ends the start: what it sends until it hears of that fills it up. */
const STARTUP_QUEUE = 0.3;
const FIRST_SEGMENTS = 32;

/**
 * How fast to send, and how much may be on its way: at the rate at which bytes arrive, not at one that losses
 * cut down (after BBR's idea). Losses that come without a queue are the path's nature, and
 * are made up for by sending so much more; those that come with one are its limit.
 */
export class RateModel {
  readonly #rtt: RttEstimator;
  readonly #segmentBytes: number;
  readonly #rates: number[] = new Array<number>(RATE_ROUNDS).fill(0);
  #state: "startup" | "drain" | "steady" = "startup";
  #round = 0;
  #roundEndsAt = 0;
  #bestRate = 0;
  #flatRounds = 0;
  #rateAtLastGrowth = 0;
  #cycle = 0;
  /** What the round before has put into the queue is gone. */
  #isDrained = false;
  /** The best rate as it was a round ago. */
  #roundRate = 0;
  #roundDelivered = 0;
  #roundLost = 0;
  #lossShare = 0;

  constructor(rtt: RttEstimator, segmentBytes: number) {
    this.#rtt = rtt;
    this.#segmentBytes = segmentBytes;
  }

  /** Bytes a millisecond. */
  get pacingRate(): number {
    const rate = this.#bestRate * this.#gain * this.#compensation;
    // What little was said so far tells nothing about the path.
    return this.#state === "startup" ? Math.max(rate, this.#firstRate * STARTUP_GAIN) : rate;
  }

  /** How many bytes may be on their way. */
  get windowBytes(): number {
    const least = FIRST_SEGMENTS * this.#segmentBytes;
    if (this.#bestRate === 0) return least;
    return WINDOW_GAIN * this.#bestRate * this.#rtt.minMs + least;
  }

  get lossShare(): number {
    return this.#lossShare;
  }

  onAcknowledged(sample: RateSample): void {
    const delivered = sample.delivered - this.#roundDelivered;
    this.#roundLost += sample.lostBytes;
    if (sample.deliveredAtSend >= this.#roundEndsAt) {
      this.#roundEndsAt = sample.delivered;
      this.#newRound(delivered, sample);
    }
    if (sample.rate > 0 && (!sample.isAppLimited || sample.rate > this.#bestRate)) {
      const slot = this.#round % RATE_ROUNDS;
      this.#rates[slot] = Math.max(this.#rates[slot] ?? 0, sample.rate);
      this.#bestRate = Math.max(this.#bestRate, sample.rate);
    }
    if (this.#state === "startup" && this.#queueFill > STARTUP_QUEUE) this.#state = "drain";
    if (sample.flyingBytes > this.#bestRate * this.#rtt.minMs) return;
    if (this.#state === "drain") this.#state = "steady";
    else if (this.#cycle === LEAN_ROUND) this.#isDrained = true;
  }

  get #firstRate(): number {
    const rttMs = this.#rtt.hasSample ? this.#rtt.smoothedMs : 100;
    return (FIRST_SEGMENTS * this.#segmentBytes) / Math.max(1, rttMs);
  }

  get #gain(): number {
    if (this.#state === "startup") return STARTUP_GAIN;
    if (this.#state === "drain") return 1 / STARTUP_GAIN;
    return this.#isDrained ? 1 : (CYCLE[this.#cycle] ?? 1);
  }

  /** 0 where no queue stands, 1 where it is full. */
  get #queueFill(): number {
    const { smoothedMs, minMs, hasSample } = this.#rtt;
    if (!hasSample) return 0;
    const fill = (smoothedMs - minMs - QUEUE_SLACK_MS) / (FULL_QUEUE_SHARE * minMs);
    return Math.min(1, Math.max(0, fill));
  }

  /** The longer the queue is, the less is made up for losses, and at last less is sent than arrives. */
  get #compensation(): number {
    const unqueued = this.#cycle === LEAN_ROUND ? 1 : 1 / (1 - this.#lossShare);
    return unqueued + this.#queueFill * (QUEUED_GAIN - unqueued);
  }

  #newRound(delivered: number, sample: RateSample): void {
    // What is lost while less is sent than the path takes is its nature, and no queue that overflows.
    const share = this.#roundLost / Math.max(1, this.#roundLost + delivered);
    if (this.#state === "steady" && this.#cycle === LEAN_ROUND + 1) {
      const weight = this.#lossShare === 0 ? 1 : LOSS_SMOOTHING;
      this.#lossShare += weight * (Math.min(share, MAX_LOSS_SHARE) - this.#lossShare);
    }
    this.#roundDelivered = sample.delivered;
    this.#roundLost = 0;
    this.#isDrained = false;
    // A round in which the sender had nothing to send, or that can not be measured, says nothing, and drives
    // nothing out: with no rate at all nothing would ever be sent again.
    if (sample.isAppLimited || sample.rate === 0) return;
    this.#round += 1;
    const rateBefore = this.#roundRate;
    this.#roundRate = this.#bestRate;
    this.#rates[this.#round % RATE_ROUNDS] = 0;
    this.#bestRate = Math.max(sample.rate, ...this.#rates);
    // As long as looking for more finds it, and no queue, it goes on.
    const finds = this.#bestRate > rateBefore * FINDING && this.#queueFill < 1;
    if (!(this.#cycle === 0 && finds)) this.#cycle = (this.#cycle + 1) % CYCLE.length;
    if (this.#state === "startup") this.#considerFull(share);
  }

  #considerFull(lossShare: number): void {
    if (this.#bestRate >= this.#rateAtLastGrowth * GROWTH) {
      this.#rateAtLastGrowth = this.#bestRate;
      this.#flatRounds = 0;
      return;
    }
    // So much is lost of what is sent beyond the limit of a path with a short queue.
    this.#flatRounds += lossShare > MAX_LOSS_SHARE ? FLAT_ROUNDS : 1;
    if (this.#flatRounds >= FLAT_ROUNDS) this.#state = "drain";
  }
}
