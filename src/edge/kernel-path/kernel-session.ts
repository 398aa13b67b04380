import type { SessionKeys } from "../tunnel/noise-ik.ts";
import type { Session, SharedCounters } from "../tunnel/session.ts";
import { MAX_COUNTER } from "./layout.ts";
import type { SharedRecord } from "./shared-record.ts";

/**
 * What the kernel path has of a session, from its first moment to its last: the record that it counts by, and its
 * keys, to be written into maps whenever the way to the peer changes.
 */
export class KernelSession implements SharedCounters {
  readonly limit: number = MAX_COUNTER;
  readonly record: SharedRecord;
  readonly sealingKey: Uint8Array;
  readonly openingKey: Uint8Array;
  /** Known from when it is in use. */
  session: Session | undefined;
  readonly #onReleased: (session: KernelSession) => void;

  /** The keys are copied. @param onReleased no packet goes by it any more; before its keys are wiped */
  constructor(
    record: SharedRecord,
    keys: SessionKeys,
    onReleased: (session: KernelSession) => void,
  ) {
    this.record = record;
    this.sealingKey = Uint8Array.from(keys.sealing);
    this.openingKey = Uint8Array.from(keys.opening);
    this.#onReleased = onReleased;
  }

  get given(): number {
    return this.record.given;
  }

  give(): number {
    return this.record.give();
  }

  get greatest(): number {
    return this.record.greatest;
  }

  isNew(counter: number): boolean {
    return this.record.isNew(counter);
  }

  take(counter: number): boolean {
    return this.record.take(counter);
  }

  release(): void {
    this.#onReleased(this);
    for (const key of [this.sealingKey, this.openingKey]) key.fill(0);
  }
}
