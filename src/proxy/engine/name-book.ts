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
/** A name that has no address yet is asked for again sooner. */
const RETRY_MS = 2000;
/** A resolver that does not answer must not keep everything else waiting. */
const PATIENCE_MS = 2000;

/** The addresses of the host names that servers are given by, looked up again and again. */
export class NameBook {
  readonly #options: NameBookOptions;
  readonly #addresses = new Map<string, readonly string[]>();
  #wanted: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: NameBookOptions) {
    this.#options = options;
  }

  /** An address or path is its own. Empty: not known. */
  addressesOf(host: string): readonly string[] {
    return isAddress(host) ? [host] : (this.#addresses.get(host) ?? []);
  }

  /**
   * Follows the names among these from now on. Settles when new ones have been looked up, or that
   * takes too long: then `onChanged` tells of them later.
   */
  async follow(hosts: Iterable<string>): Promise<void> {
    const wanted = new Set([...hosts].filter((host) => !isAddress(host)));
    this.#wanted = wanted;
    for (const name of this.#addresses.keys()) if (!wanted.has(name)) this.#addresses.delete(name);
    const isNew = (name: string): boolean => !this.#addresses.has(name);
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

  close(): void {
    this.#wanted = new Set();
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#wanted.size === 0) return;
    const hasUnknown = [...this.#wanted].some((name) => this.addressesOf(name).length === 0);
    const waitMs = hasUnknown ? RETRY_MS : REFRESH_MS;
    this.#timer = setTimeout(() => void this.#refresh(), waitMs).unref();
  }

  async #refresh(): Promise<void> {
    const changed = await Promise.all([...this.#wanted].map((name) => this.#lookUp(name)));
    this.#schedule();
    if (changed.includes(true)) this.#options.onChanged();
  }

  /** Whether it has other addresses now. One that is not found keeps those that it had. */
  async #lookUp(name: string): Promise<boolean> {
    const before = this.addressesOf(name);
    try {
      const found = await this.#options.lookup(name);
      const addresses = [...new Set(found)].sort();
      this.#addresses.set(name, addresses);
      return addresses.join() !== before.join();
    } catch (error) {
      this.#addresses.set(name, before);
      this.#options.log.warn({ err: error, name }, "a server's name could not be resolved");
      return false;
    }
  }
}

function isAddress(host: string): boolean {
  return host.startsWith("/") || canonicalIp(host) !== undefined;
}
