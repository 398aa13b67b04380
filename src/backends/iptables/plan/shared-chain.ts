import { bareRule } from "../../../platform/linux/iptables/rule.ts";

interface Held {
  /** As it stands in the kernel. */
  readonly text: string;
  readonly count: number;
}

/** The rules of one group in a shared chain, as they were and as they are to be. */
export interface RulesStep {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** What changes in a shared chain when some of its groups do. */
export interface SharedEdits {
  readonly removed: readonly string[];
  /** For each group that has new rules, all of them in order. */
  readonly inserted: readonly (readonly string[])[];
}

/**
 * The rules of a chain that many groups share. Rules of different groups exclude each other, so only
 * those of one group have an order; a rule that several groups need stands there once.
 */
export class SharedChain {
  readonly #rules = new Map<string, Held>();

  get size(): number {
    return this.#rules.size;
  }

  /** @param text the rule as the kernel has it, where it is there already */
  hold(rule: string, text: string = rule): boolean {
    const bare = bareRule(rule);
    const held = this.#rules.get(bare);
    this.#rules.set(bare, { text: held?.text ?? text, count: (held?.count ?? 0) + 1 });
    return held === undefined;
  }

  /** @returns the rule as the kernel has it, where nobody needs it any more */
  release(rule: string): string | undefined {
    const bare = bareRule(rule);
    const held = this.#rules.get(bare);
    if (held === undefined) return undefined;
    if (held.count > 1) {
      this.#rules.set(bare, { ...held, count: held.count - 1 });
      return undefined;
    }
    this.#rules.delete(bare);
    return held.text;
  }

  /** Replaces the rules of groups. */
  edit(changes: readonly RulesStep[]): SharedEdits {
    const removed: string[] = [];
    for (const { before } of changes) {
      for (const rule of before) {
        const text = this.release(rule);
        if (text !== undefined) removed.push(text);
      }
    }
    const inserted = changes.map(({ after }) => after.filter((rule) => this.hold(rule)));
    return { removed, inserted: inserted.filter((rules) => rules.length > 0) };
  }
}
