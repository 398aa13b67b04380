import type { AeadKey } from "../../platform/linux/openssl/aead-key.ts";
import { type CounterWindow, ReplayWindow } from "../../wire/replay-window.ts";

/** WireGuard, 6.1: no session is used for longer, nor for more messages. */
const REJECT_AFTER_MS = 180_000;
export const REKEY_AFTER_MS = 120_000;
const REJECT_AFTER_MESSAGES: number = 2 ** 52;

export interface SessionOptions {
  readonly node: string;
  readonly mode: SessionMode;
  readonly isInitiator: boolean;
  readonly createdMs: number;
  readonly localIndex: number;
  readonly remoteIndex: number;
  readonly sealing: AeadKey;
  readonly opening: AeadKey;
  readonly maxMessages?: number;
  /** Missing where nobody else sends and receives by it. */
  readonly shared?: SharedCounters | undefined;
}

/** Counters of a session by which somebody else sends and receives, too. */
export interface SharedCounters extends CounterWindow {
  /** None is given or taken from here on. */
  readonly limit: number;
  /** How many were given. */
  readonly given: number;
  /** The next one. */
  give(): number;
  /** The session has ended: the other one stops before this returns. */
  release(): void;
}

/** How the packets of a session travel. */
export type SessionMode = "secure" | "fast";

/** Two keys that two nodes agreed on, one for each direction. Its counter is never given twice. */
export class Session {
  readonly node: string;
  readonly mode: SessionMode;
  readonly isInitiator: boolean;
  readonly createdMs: number;
  /** By which the other end names it to us, and we to the other end. */
  readonly localIndex: number;
  readonly remoteIndex: number;
  readonly sealing: AeadKey;
  readonly #opening: AeadKey;
  readonly shared: SharedCounters | undefined;
  readonly #window: CounterWindow;
  readonly #maxMessages: number;
  #nextCounter = 0;

  constructor(options: SessionOptions) {
    this.node = options.node;
    this.mode = options.mode;
    this.isInitiator = options.isInitiator;
    this.createdMs = options.createdMs;
    this.localIndex = options.localIndex;
    this.remoteIndex = options.remoteIndex;
    this.sealing = options.sealing;
    this.#opening = options.opening;
    this.shared = options.shared;
    this.#window = options.shared ?? new ReplayWindow();
    this.#maxMessages = options.maxMessages ?? options.shared?.limit ?? REJECT_AFTER_MESSAGES;
  }

  takeCounter(): number {
    if (this.shared !== undefined) return this.shared.give();
    this.#nextCounter += 1;
    return this.#nextCounter - 1;
  }

  isUsable(nowMs: number): boolean {
    return nowMs - this.createdMs < REJECT_AFTER_MS && this.#given < this.#maxMessages;
  }

  /** So many messages were sent by it that another one is to follow, whatever its age. */
  get isWorn(): boolean {
    return this.#given >= this.#maxMessages / 2;
  }

  get #given(): number {
    return this.shared?.given ?? this.#nextCounter;
  }

  /** Opens what is sealed, in its place. False where it is not genuine, came before, or is too old to tell. */
  open(counter: number, address: number, byteCount: number): boolean {
    return (
      counter < this.#maxMessages &&
      this.#window.isNew(counter) &&
      this.#opening.open(counter, address, byteCount, address) &&
      this.#window.take(counter)
    );
  }

  /** Whether nothing came yet that was sent after this. */
  isNewest(counter: number): boolean {
    return counter === this.#window.greatest;
  }

  free(): void {
    this.shared?.release();
    this.sealing.free();
    this.#opening.free();
  }
}
