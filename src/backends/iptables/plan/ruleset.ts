import { deepEqual } from "../../../core/model/equal.ts";
import type { ChainId } from "../../../platform/linux/iptables/chain-id.ts";
import { chainText } from "../../../platform/linux/iptables/chain-id.ts";
import type { SavedChains } from "../../../platform/linux/iptables/parse-save.ts";
import { ledToByOthers, removeChains } from "../../../platform/linux/iptables/remove-chains.ts";
import { RestoreScript } from "../../../platform/linux/iptables/restore-script.ts";
import { bareRule, bareText } from "../../../platform/linux/iptables/rule.ts";
import { isOwnedChain, isPassingChain, isWay } from "../../kube-chains.ts";
import { isKubeJump } from "../../kube-jumps.ts";
import { type GroupRules, NO_RULES } from "./group-rules.ts";
import { type RulesStep, SharedChain } from "./shared-chain.ts";

/** The group whose rules stand behind those of all others in shared chains. */
export const BASE = "";

/** Above this share of its rules, a shared chain is written anew rather than edited. */
const REWRITE_SHARE = 0.1;
const MIN_EDITS_TO_REWRITE = 200;

/**
 * The rules that one family should have, by group, and what was last told to the kernel of them. The
 * cost of a change follows the groups that changed. Whoever could not execute a script does not know
 * what the kernel has: `compare` begins anew.
 */
export class Ruleset {
  readonly #groups = new Map<string, GroupRules>();
  readonly #shared = new Map<ChainId, SharedChain>();
  /** What `#shared` does not know yet of the rules that were compared last. */
  #unheld: Unheld[] = [];
  #ownCount = 0;

  /** What the kernel was last told, or was to be told, to have. */
  groups(): ReadonlyMap<string, GroupRules> {
    return new Map(this.#groups);
  }

  /** How many rules there are. */
  get ruleCount(): number {
    this.hold();
    let count = this.#ownCount;
    for (const chain of this.#shared.values()) count += chain.size;
    return count;
  }

  /** What has to be executed for these groups; one without rules goes. The base is not among them. */
  change(changes: ReadonlyMap<string, GroupRules>): RestoreScript {
    this.hold();
    const script = new RestoreScript();
    const steps: GroupStep[] = [];
    for (const [key, after] of changes) {
      const before = this.#groups.get(key) ?? NO_RULES;
      if (after.own.size === 0 && after.shared.size === 0) this.#groups.delete(key);
      else this.#groups.set(key, after);
      this.#ownCount += after.ownCount - before.ownCount;
      steps.push({ before, after });
    }
    changeOwn(steps, script);
    for (const [chain, rules] of sharedSteps(steps)) this.#changeShared(chain, rules, script);
    return script;
  }

  /** What has to be executed so that the kernel, which holds `actual`, has just these groups. */
  compare(actual: SavedChains, desired: ReadonlyMap<string, GroupRules>): RestoreScript {
    this.#forget();
    for (const [key, group] of desired) this.#take(key, group);
    const script = new RestoreScript();
    const unwanted = new Set([...actual.keys()].filter(isOwnedChain));
    for (const { own } of desired.values()) {
      for (const [chain, text] of own) {
        unwanted.delete(chain);
        const there = actual.get(chain);
        const isSame = there !== undefined && bareText(chainText(chain, there)) === bareText(text);
        if (!isSame) script.write(chain, text);
      }
    }
    for (const [chain, groups] of sharedRules(desired)) {
      unwanted.delete(chain);
      this.#compareShared(chain, groups, actual.get(chain), script);
    }
    removeChains(unwanted, ledToByOthers(actual, isOwnedChain, isKubeJump), actual, script);
    return script;
  }

  /**
   * The same for a kernel that has none of these chains, group by group, as they are worked out. The chains
   * that the base shares with others come first, so that all may lead to them.
   */
  *fill(desired: Iterable<readonly [string, GroupRules]>, script: RestoreScript): Generator<void> {
    this.#forget();
    const known = new Set<ChainId>();
    for (const [key, group] of desired) {
      this.#take(key, group);
      for (const chain of group.shared.keys()) {
        if (!known.has(chain)) script.empty(chain);
        known.add(chain);
      }
      for (const [chain, text] of group.own) script.write(chain, text);
      yield;
    }
    for (const [id, groups] of sharedRules(this.#groups)) {
      this.#unheld.push({ id, groups, actual: undefined });
      script.fill(id, chainText(id, orderedRules(groups)));
    }
  }

  #forget(): void {
    this.#groups.clear();
    this.#shared.clear();
    this.#unheld = [];
    this.#ownCount = 0;
  }

  #take(key: string, group: GroupRules): void {
    this.#groups.set(key, group);
    this.#ownCount += group.ownCount;
  }

  /** Makes ready for changes; whoever has a script executed can have that done meanwhile. */
  hold(): void {
    for (const { id, groups, actual } of this.#unheld) {
      const chain = new SharedChain();
      this.#shared.set(id, chain);
      const texts = actual && new Map(actual.map((text) => [bareRule(text), text]));
      for (const { rules } of groups) {
        for (const rule of rules) chain.hold(rule, texts?.get(bareRule(rule)));
      }
    }
    this.#unheld = [];
  }

  #changeShared(id: ChainId, changes: readonly RulesStep[], script: RestoreScript): void {
    const chain = this.#shared.get(id) ?? new SharedChain();
    const isNew = chain.size === 0 && isPassingChain(id);
    this.#shared.set(id, chain);
    const { removed, inserted } = chain.edit(changes);
    if (chain.size === 0 && isPassingChain(id)) {
      this.#shared.delete(id);
      if (!isNew) script.deleteChain(id);
      return;
    }
    const edits = removed.length + inserted.reduce((sum, rules) => sum + rules.length, 0);
    const isLarge = edits > MIN_EDITS_TO_REWRITE && edits > chain.size * REWRITE_SHARE;
    if (isNew || isLarge) {
      script.write(id, chainText(id, this.#rulesIn(id)));
      return;
    }
    for (const rule of removed) script.remove(id, rule);
    for (const rules of inserted) script.insert(id, rules);
  }

  #rulesIn(chain: ChainId): readonly string[] {
    return orderedRules(sharedRules(this.#groups).get(chain) ?? []);
  }

  #compareShared(
    id: ChainId,
    groups: readonly SharedRules[],
    actual: readonly string[] | undefined,
    script: RestoreScript,
  ): void {
    const isSame = actual !== undefined && hasGroups(actual, groups);
    this.#unheld.push({ id, groups, actual: isSame ? actual : undefined });
    if (!isSame) script.write(id, chainText(id, orderedRules(groups)));
  }
}

/** What a group was, and what it is to be. */
interface GroupStep {
  readonly before: GroupRules;
  readonly after: GroupRules;
}

/** A chain whose rules are in the kernel, or about to be. */
interface Unheld {
  readonly id: ChainId;
  readonly groups: readonly SharedRules[];
  /** As the kernel had it, where that is as it should be. */
  readonly actual: readonly string[] | undefined;
}

interface SharedRules {
  readonly group: string;
  readonly rules: readonly string[];
}

/** For each shared chain, the rules of the groups. */
function sharedRules(
  groups: ReadonlyMap<string, GroupRules>,
): ReadonlyMap<ChainId, readonly SharedRules[]> {
  const chains = new Map<ChainId, SharedRules[]>();
  for (const [group, { shared }] of groups) {
    for (const [chain, rules] of shared) {
      const list = chains.get(chain) ?? [];
      chains.set(chain, list);
      list.push({ group, rules });
    }
  }
  return chains;
}

/** Each rule once; those of the base last. */
function orderedRules(groups: readonly SharedRules[]): readonly string[] {
  const isBase = ({ group }: SharedRules) => group === BASE;
  const ordered = [...groups.filter((one) => !isBase(one)), ...groups.filter(isBase)];
  return [...new Set(ordered.flatMap(({ rules }) => rules))];
}

function changeOwn(steps: readonly GroupStep[], script: RestoreScript): void {
  const left = new Set(steps.flatMap(({ before }) => [...before.own.keys()]));
  for (const { before, after } of steps) {
    for (const [chain, text] of after.own) {
      if (before.own.get(chain) !== text) script.write(chain, text);
      // Also where another group had it: a listener that moves to another service takes its chain along.
      left.delete(chain);
    }
  }
  for (const chain of left) script.deleteChain(chain);
}

/** For each shared chain, the rules of the groups that changed. */
function sharedSteps(steps: readonly GroupStep[]): ReadonlyMap<ChainId, readonly RulesStep[]> {
  const touched = new Map<ChainId, RulesStep[]>();
  for (const { before, after } of steps) {
    for (const chain of new Set([...before.shared.keys(), ...after.shared.keys()])) {
      const rules = {
        before: before.shared.get(chain) ?? [],
        after: after.shared.get(chain) ?? [],
      };
      if (deepEqual(rules.before, rules.after)) continue;
      const list = touched.get(chain) ?? [];
      touched.set(chain, list);
      list.push(rules);
    }
  }
  return touched;
}

/** Whether a chain holds just the rules of these groups: each in its order, those of the base last. */
function hasGroups(actual: readonly string[], groups: readonly SharedRules[]): boolean {
  const wanted = orderedRules(groups);
  if (actual.length !== wanted.length) return false;
  const positions = new Map(actual.map((rule, index) => [bareRule(rule), index]));
  if (positions.size !== actual.length) return false;
  for (const { rules } of groups) {
    let last = -1;
    for (const rule of rules) {
      const at = positions.get(bareRule(rule));
      if (at === undefined) return false;
      // Where groups share a way to a network, it stands where the first of them needed it.
      if (isWay(rule)) continue;
      if (at < last) return false;
      last = at;
    }
  }
  const tail = groups.find(({ group }) => group === BASE)?.rules ?? [];
  const last = actual.slice(actual.length - tail.length);
  return last.every((rule, index) => bareRule(rule) === bareRule(tail[index] ?? ""));
}
