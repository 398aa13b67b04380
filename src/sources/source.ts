import type { CoreError } from "../core/errors.ts";
import type { MetricFamily } from "../core/metrics/metric-family.ts";
import type { GlobalStore } from "../core/store/global-store.ts";

/** Where a source tells how it is; the status board and the log listen. */
export interface SourceReporter {
  /** What was read is in the store. `message` says how much, for people. */
  ok(message: string): void;
  /** What should have been read was not; the state that was in the store stays. */
  failed(error: CoreError): void;
  /** A change that began at `sinceMs` is in the store from `revision` on; for who counts how long it takes. */
  triggered?(sinceMs: number, revision: number): void;
  /** What of it could not be taken, a line each, while the rest is; replaces what was said before. */
  refused?(lines: readonly string[]): void;
}

/**
 * Writes what it reads into the store, as one owner. A source never knows the backends.
 *
 * `start` registers the owner with the store and begins to follow what it reads. It rejects only
 * where nothing can come of it as it is configured (a state file that is refused at the start: there
 * is no state before it to go on with); what goes wrong later, or may pass by itself, is reported.
 * `close` may be called at any time, also before `start` has settled, and more than once. What the
 * source wrote stays in the store.
 */
export interface Source {
  readonly owner: string;
  start(store: GlobalStore, report: SourceReporter): Promise<void>;
  close(): Promise<void>;
  /** For people: how it goes, in numbers of this moment. */
  details?(): string;
  /** What it counts. */
  metrics?(): readonly MetricFamily[];
}
