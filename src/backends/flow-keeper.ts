import type { Log } from "../core/log.ts";
import { Turns } from "../core/turns.ts";
import type {
  ConntrackReconciler,
  ConntrackReconcilerOptions,
  ServiceLookup,
} from "../platform/linux/conntrack/conntrack-reconciler.ts";
import { TRACKED_TYPES } from "./kernel-options.ts";

export type OpenConntrack = (
  options: Omit<ConntrackReconcilerOptions, "table">,
) => ConntrackReconciler;

/** Sends tracked flows anew that rules no longer lead where they go. */
export class FlowKeeper {
  readonly #open: OpenConntrack;
  readonly #answersNodePorts: (ip: string) => boolean;
  readonly #log: Log;
  readonly #backend: string;
  readonly #pending = new Set<string>();
  readonly #turns = new Turns();
  #reconciler: ConntrackReconciler | undefined;

  constructor(
    open: OpenConntrack,
    answersNodePorts: (ip: string) => boolean,
    log: Log,
    backend: string,
  ) {
    this.#backend = backend;
    this.#open = open;
    this.#answersNodePorts = answersNodePorts;
    this.#log = log;
  }

  /** A service changed whose rules are about to be told. */
  note(services: Iterable<string>): void {
    for (const service of services) this.#pending.add(service);
  }

  /**
   * To be called when the rules are in the kernel, or were found there. They are right also where this
   * fails: it is done by the next call. Where nothing changed, it costs nothing.
   * @returns how many flows were removed
   */
  reconcile(services: ServiceLookup): Promise<number> {
    return this.#turns.take(() => this.#reconcile(services));
  }

  async #reconcile(services: ServiceLookup): Promise<number> {
    if (this.#pending.size === 0) return 0;
    // More may be noted meanwhile.
    const changed = new Set(this.#pending);
    this.#pending.clear();
    try {
      this.#reconciler ??= this.#open({
        addressTypes: TRACKED_TYPES,
        answersNodePorts: this.#answersNodePorts,
      });
      const { removed } = await this.#reconciler.reconcile(services, changed);
      return removed;
    } catch (error) {
      this.note(changed);
      this.#log.warn(
        { backend: this.#backend, err: error },
        "tracked flows could not be looked at: UDP clients may stay with endpoints that are gone",
      );
      return 0;
    }
  }

  close(): void {
    this.#reconciler?.close();
    this.#reconciler = undefined;
  }
}
