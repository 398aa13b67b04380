import type { SimulatedNetwork } from "./simulated-network.ts";

/** What passes in one direction of a stream. */
export type Segment =
  | { readonly kind: "syn" }
  | { readonly kind: "accepted" }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "credit"; readonly byteCount: number }
  | { readonly kind: "fin" }
  | { readonly kind: "reset" };

interface Sent {
  readonly segment: Segment;
  atMs: number;
}

/** How long one side goes on sending again before it gives the connection up. */
const PATIENCE_MS = 30_000;
const RETRY_MS = 500;

/** One direction of a stream: all arrives, once and in order, sooner or later; or it is given up. */
export class Line {
  readonly #network: SimulatedNetwork;
  readonly #from: string;
  readonly #to: string;
  readonly #sent: Sent[] = [];
  #lastAtMs = 0;
  #stalledMs = 0;
  #isArmed = false;
  #deliver: (segment: Segment) => void = () => undefined;
  #giveUp: () => void = () => undefined;

  constructor(network: SimulatedNetwork, from: string, to: string) {
    this.#network = network;
    this.#from = from;
    this.#to = to;
  }

  /** Whom it leads to. */
  deliverTo(deliver: (segment: Segment) => void): void {
    this.#deliver = deliver;
  }

  /** Who is told when the other side was out of reach for too long. */
  onGivenUp(giveUp: () => void): void {
    this.#giveUp = giveUp;
  }

  send(segment: Segment): void {
    const { clock } = this.#network;
    const lateMs = this.#network.arrivalMs(this.#from, this.#to, PATIENCE_MS) ?? PATIENCE_MS;
    this.#lastAtMs = Math.max(this.#lastAtMs, clock.nowMs() + lateMs);
    this.#sent.push({ segment, atMs: this.#lastAtMs });
    this.#arm();
  }

  #arm(): void {
    const head = this.#sent[0];
    if (this.#isArmed || head === undefined) return;
    this.#isArmed = true;
    this.#network.clock.callAt(head.atMs, () => {
      this.#isArmed = false;
      this.#arrive();
      this.#arm();
    });
  }

  #arrive(): void {
    const nowMs = this.#network.clock.nowMs();
    if (this.#network.isPartitioned(this.#from, this.#to)) {
      this.#stall(nowMs);
      return;
    }
    this.#stalledMs = 0;
    for (let head = this.#sent[0]; head !== undefined && head.atMs <= nowMs; head = this.#sent[0]) {
      this.#sent.shift();
      this.#deliver(head.segment);
    }
  }

  #stall(nowMs: number): void {
    this.#stalledMs += RETRY_MS;
    if (this.#stalledMs > PATIENCE_MS) {
      this.#sent.length = 0;
      this.#giveUp();
      return;
    }
    const head = this.#sent[0];
    if (head !== undefined) head.atMs = nowMs + RETRY_MS;
    this.#lastAtMs = Math.max(this.#lastAtMs, nowMs + RETRY_MS);
  }
}
