import { type ChainId, chainText } from "../../../platform/linux/iptables/chain-id.ts";

/** The rules that a service with its listeners, or the base of it all, comes to. */
export interface GroupRules {
  /**
   * Chains that it has for itself, with all their rules as one text, a line each: `-A CHAIN RULE`. One
   * text is far less to keep than many.
   */
  readonly own: ReadonlyMap<ChainId, string>;
  /** Its rules in chains that it shares with others. Their order holds among themselves. */
  readonly shared: ReadonlyMap<ChainId, readonly string[]>;
  /** How many rules its own chains have. */
  readonly ownCount: number;
}

export const NO_RULES: GroupRules = { own: new Map(), shared: new Map(), ownCount: 0 };

/** Collects the rules of one group. */
export class GroupBuilder {
  /** Undefined where there is none: most services have rules in one family only. */
  #own: Map<ChainId, string[]> | undefined;
  #shared: Map<ChainId, string[]> | undefined;

  /** A chain of its own; there even where no rule is added. */
  chain(chain: ChainId): string[] {
    this.#own ??= new Map();
    return listAt(this.#own, chain);
  }

  hasChain(chain: ChainId): boolean {
    return this.#own?.has(chain) === true;
  }

  /** Without rules, the chain is there all the same. */
  share(chain: ChainId, ...rules: readonly string[]): void {
    this.#shared ??= new Map();
    listAt(this.#shared, chain).push(...rules);
  }

  build(): GroupRules {
    if (this.#own === undefined) {
      return this.#shared === undefined ? NO_RULES : { ...NO_RULES, shared: this.#shared };
    }
    const own = new Map<ChainId, string>();
    let ownCount = 0;
    for (const [chain, rules] of this.#own) {
      own.set(chain, chainText(chain, rules));
      ownCount += rules.length;
    }
    return { own, shared: this.#shared ?? NO_RULES.shared, ownCount };
  }
}

function listAt(lists: Map<ChainId, string[]>, chain: ChainId): string[] {
  const list = lists.get(chain);
  if (list !== undefined) return list;
  const empty: string[] = [];
  lists.set(chain, empty);
  return empty;
}
