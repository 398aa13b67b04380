import { candidatesOf } from "../table/name-meaning.ts";
import { LOCAL_DOMAIN } from "./edge-names.ts";
import { isReverseName } from "./reverse-names.ts";
import { parseServiceName } from "./srv-targets.ts";

export interface NameFinderOptions {
  /** Whether a service of this name is known here. */
  readonly isKnown: (name: string) => boolean;
  /** Asks who knows all services, for one of these names; settles once they are known here, or never will be. */
  readonly find: (names: readonly string[], signal: AbortSignal) => Promise<boolean>;
  readonly nowMs: () => number;
}

/** Whoever asked waits no longer: a name that others know is not held up by a manager that is slow. */
const WAIT_MS = 1000;
/** For so long a name that nobody has is not looked for again. */
const NOBODY_MS = 5000;
const MAX_REMEMBERED = 4096;
const MAX_UNDER_WAY = 256;

/**
 * Looks for services that are not known here by the names that workloads ask for. Each is looked for once at a
 * time, what nobody has is remembered for a while, and nothing waits but the questions for that name.
 */
export class NameFinder {
  readonly #options: NameFinderOptions;
  readonly #underWay = new Map<string, Promise<boolean>>();
  readonly #nobodyUntilMs = new Map<string, number>();

  constructor(options: NameFinderOptions) {
    this.#options = options;
  }

  /** Settles when it is worth answering, with whether there is news; undefined where there is nothing to wait for. */
  find(question: string): Promise<boolean> | undefined {
    // Services have no such names.
    if (isReverseName(question)) return undefined;
    const name = parseServiceName(question).host.toLowerCase();
    const plain = name.replace(LOCAL_DOMAIN, "");
    const names = [...new Set([...candidatesOf(name), ...candidatesOf(plain)])];
    const { isKnown, nowMs } = this.#options;
    if (names.some(isKnown)) return undefined;
    const untilMs = this.#nobodyUntilMs.get(name);
    if (untilMs !== undefined && nowMs() < untilMs) return undefined;
    const there = this.#underWay.get(name);
    if (there !== undefined) return there;
    if (this.#underWay.size >= MAX_UNDER_WAY) return undefined;
    const finding = this.#look(name, names);
    this.#underWay.set(name, finding);
    return finding;
  }

  async #look(name: string, names: readonly string[]): Promise<boolean> {
    const { find, nowMs } = this.#options;
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), WAIT_MS);
    const late = new Promise<false>((resolve) => {
      patience.signal.addEventListener("abort", () => resolve(false));
    });
    try {
      const isFound = await Promise.race([find(names, patience.signal).catch(() => false), late]);
      if (!isFound) this.#remember(name, nowMs() + NOBODY_MS);
      return isFound;
    } finally {
      clearTimeout(timer);
      this.#underWay.delete(name);
    }
  }

  #remember(name: string, untilMs: number): void {
    this.#nobodyUntilMs.delete(name);
    this.#nobodyUntilMs.set(name, untilMs);
    const [oldest] = this.#nobodyUntilMs.keys();
    if (this.#nobodyUntilMs.size > MAX_REMEMBERED && oldest !== undefined) {
      this.#nobodyUntilMs.delete(oldest);
    }
  }
}
