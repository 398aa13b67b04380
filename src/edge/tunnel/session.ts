import type { AeadKey } from "../../platform/linux/openssl/aead-key.ts";
import { ReplayWindow } from "./replay-window.ts";

/** WireGuard, 6.1: no session is used for longer, nor for more messages. */
const REJECT_AFTER_MS = 180_000;
export const REKEY_AFTER_MS = 120_000;
const REJECT_AFTER_MESSAGES: number = 2 ** 52;

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
  readonly window: ReplayWindow = new ReplayWindow();
  readonly sealing: AeadKey;
  readonly opening: AeadKey;
  #nextCounter = 0;

  constructor(options: {
    readonly node: string;
    readonly mode: SessionMode;
    readonly isInitiator: boolean;
    readonly createdMs: number;
    readonly localIndex: number;
    readonly remoteIndex: number;
    readonly sealing: AeadKey;
    readonly opening: AeadKey;
  }) {
    this.node = options.node;
    this.mode = options.mode;
    this.isInitiator = options.isInitiator;
    this.createdMs = options.createdMs;
    this.localIndex = options.localIndex;
    this.remoteIndex = options.remoteIndex;
    this.sealing = options.sealing;
    this.opening = options.opening;
  }

  takeCounter(): number {
    this.#nextCounter += 1;
    return this.#nextCounter - 1;
  }

  isUsable(nowMs: number): boolean {
    return nowMs - this.createdMs < REJECT_AFTER_MS && this.#nextCounter < REJECT_AFTER_MESSAGES;
  }

  free(): void {
    this.sealing.free();
    this.opening.free();
  }
}
