import { createHash, hkdfSync, randomBytes } from "node:crypto";
import { TICKET_KEY_BYTES } from "../../platform/linux/openssl/openssl-numbers.ts";

/** From which the keys of an epoch and of all later ones follow, and none of an earlier one. */
export interface TicketSeed {
  readonly epoch: number;
  readonly secret: Uint8Array;
}

/** A ticket lives no longer than two hours: most are used within the epoch they were made in. */
const EPOCH_MS = 12 * 3_600_000;
const SECRET_BYTES = 32;

/**
 * The keys that sessions are sealed with. All who began with the same seed have the same key at the
 * same time, without a word between them; what is over can not be worked out again. A client whose
 * ticket is of an earlier epoch makes a full handshake.
 */
export class TicketRatchet {
  #epoch: number;
  #secret: Uint8Array;

  constructor(seed: TicketSeed) {
    this.#epoch = seed.epoch;
    this.#secret = seed.secret;
  }

  /** A new one, with a secret that nobody knows. */
  static create(nowMs: number): TicketRatchet {
    return new TicketRatchet({ epoch: epochOf(nowMs), secret: randomBytes(SECRET_BYTES) });
  }

  /** For somebody who begins now. */
  seedAt(nowMs: number): TicketSeed {
    this.#advance(nowMs);
    return { epoch: this.#epoch, secret: this.#secret };
  }

  /** Changes when another key is due. */
  epochAt(nowMs: number): number {
    this.#advance(nowMs);
    return this.#epoch;
  }

  keyAt(nowMs: number): Uint8Array {
    this.#advance(nowMs);
    const bytes = hkdfSync("sha256", this.#secret, "", "session tickets", TICKET_KEY_BYTES);
    return new Uint8Array(bytes);
  }

  /** A clock that goes back changes nothing. */
  #advance(nowMs: number): void {
    const epoch = epochOf(nowMs);
    for (; this.#epoch < epoch; this.#epoch += 1) {
      this.#secret = createHash("sha256").update("next").update(this.#secret).digest();
    }
  }
}

function epochOf(nowMs: number): number {
  return Math.floor(nowMs / EPOCH_MS);
}
