import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { canonicalIp } from "../../core/model/address.ts";

export interface NameBookOptions {
  /** All addresses of a name; rejects where there are none. */
  readonly lookup: (name: string) => Promise<readonly string[]>;
  /** Does not keep the process from ending. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Log;
  /** Some name has other addresses than before. */
  readonly onChanged: () => void;
}

/** How often names are looked up again: the system's resolver tells nothing about their life. */
const REFRESH_MS = 30_000;
/** One that is not found is asked for again sooner, then less and less often. */
const MIN_RETRY_MS = 2000;
const MAX_RETRY_MS = 60_000;
/** Those whose time comes within this are looked up together: what changed is told once. */
const TOGETHER_MS = 500;
/** A resolver that does not answer must not keep everything else waiting. */
const PATIENCE_MS = 2000;

interface NameEntry {
  /** Those found last; one that is not found any more keeps them. */
  readonly addresses: readonly string[];
  /** How often in a row it was not found. */
  readonly failures: number;
  /** When it is looked up again. */
  readonly dueMs: number;
}

/** The addresses of the host names that servers are given by, looked up again and again. */
export class NameBook {
  readonly #options: NameBookOptions;
  readonly #entries = new Map<string, NameEntry>();
  #wanted: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: NameBookOptions) {
    this.#options = options;
  }

  /** An address or path is its own. Empty: not known. */
  addressesOf(host: string): readonly string[] {
    return isAddress(host) ? [host] : (this.#entries.get(host)?.addresses ?? []);
  }

  /**
   * Follows the names among these from now on. Settles when new ones have been looked up, or that
   * takes too long: then `onChanged` tells of them later.
   */
  async follow(hosts: Iterable<string>): Promise<void> {
    const wanted = new Set([...hosts].filter((host) => !isAddress(host)));
    this.#wanted = wanted;
    for (const name of this.#entries.keys()) if (!wanted.has(name)) this.#entries.delete(name);
    const isNew = (name: string): boolean => !this.#entries.has(name);
    const lookups = Promise.all([...wanted].filter(isNew).map((name) => this.#lookUp(name)));
    let isLate = false;
    const patience = this.#options.sleep(PATIENCE_MS).then(() => {
      isLate = true;
    });
    const done = lookups.then((changed) => {
      this.#schedule();
      if (isLate && changed.includes(true)) this.#options.onChanged();
    });
    await Promise.race([done, patience]);
  }

  /** All names with what is known of them; how long until they are looked up again. */
  list(): readonly {
    readonly name: string;
    readonly addresses: readonly string[];
    readonly expiresInMs: number;
  }[] {
    const nowMs = performance.now();
    return [...this.#entries].map(([name, { addresses, dueMs }]) => ({
      name,
      addresses,
      expiresInMs: Math.max(0, Math.round(dueMs - nowMs)),
    }));
  }

  /** Looks a name up again now; where it is not found it keeps its addresses. False where nobody wants it. */
  async renew(name: string): Promise<boolean> {
    if (!this.#entries.has(name)) return false;
    const isChanged = await this.#lookUp(name);
    this.#schedule();
    if (isChanged) this.#options.onChanged();
    return true;
  }

  close(): void {
    this.#wanted = new Set();
    this.#entries.clear();
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#entries.size === 0) return;
    const dueMs = Math.min(...[...this.#entries.values()].map((entry) => entry.dueMs));
    const waitMs = Math.max(0, dueMs - performance.now());
    this.#timer = setTimeout(() => void this.#refresh(), waitMs).unref();
  }

  async #refresh(): Promise<void> {
    const untilMs = performance.now() + TOGETHER_MS;
    const due = [...this.#entries].filter(([, { dueMs }]) => dueMs <= untilMs);
    const changed = await Promise.all(due.map(([name]) => this.#lookUp(name)));
    this.#schedule();
    if (changed.includes(true)) this.#options.onChanged();
  }

  /** Whether it has other addresses now. */
  async #lookUp(name: string): Promise<boolean> {
    try {
      const found = await this.#options.lookup(name);
      return this.#found(name, [...new Set(found)].sort());
    } catch (error) {
      this.#notFound(name, error);
      return false;
    }
  }

  #found(name: string, addresses: readonly string[]): boolean {
    if (!this.#wanted.has(name)) return false;
    const before = this.#entries.get(name);
    this.#entries.set(name, { addresses, failures: 0, dueMs: performance.now() + REFRESH_MS });
    if (before !== undefined && before.failures > 0) {
      this.#options.log.info({ name, addresses }, "a server's name is resolved again");
    }
    return addresses.join() !== (before?.addresses ?? []).join();
  }

  #notFound(name: string, error: unknown): void {
    if (!this.#wanted.has(name)) return;
    const { addresses, failures } = this.#entries.get(name) ?? { addresses: [], failures: 0 };
    const waitMs = Math.min(MIN_RETRY_MS * 2 ** failures, MAX_RETRY_MS);
    const dueMs = performance.now() + waitMs;
    this.#entries.set(name, { addresses, failures: failures + 1, dueMs });
    if (failures > 0) return;
    // Where in the code that happened tells nothing: the resolver said so.
    const reason = messageOf(error);
    this.#options.log.warn({ name, reason }, "a server's name could not be resolved");
  }
}

function isAddress(host: string): boolean {
  return host.startsWith("/") || canonicalIp(host) !== undefined;
}
