import { setImmediate as nextTurn } from "node:timers/promises";
import type { Log } from "../../core/log.ts";
import { deepEqual } from "../../core/model/equal.ts";
import type { Turns } from "../../core/turns.ts";
import { compareJumps, removeJumps } from "../../platform/linux/iptables/compare-jumps.ts";
import type { IptablesTool } from "../../platform/linux/iptables/iptables-tool.ts";
import { parseSave, type SavedChains } from "../../platform/linux/iptables/parse-save.ts";
import { ledToByOthers, removeChains } from "../../platform/linux/iptables/remove-chains.ts";
import { RestoreScript } from "../../platform/linux/iptables/restore-script.ts";
import type { NftTables } from "../../platform/linux/nft/nft-tables.ts";
import { isIpvsOnlyChain, isKubeProxyChain, isOwnedChain } from "../kube-chains.ts";
import { isKubeJump } from "../kube-jumps.ts";
import type { PlanContext } from "../plan-context.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { GroupRules } from "./plan/group-rules.ts";
import { JUMPS } from "./plan/jumps.ts";
import { compareGuard } from "./plan/loopback-guard.ts";
import { BASE, Ruleset } from "./plan/ruleset.ts";
import { wakeOwnTables } from "./wake-own-tables.ts";

/** What the rules of a family are made from. */
export interface RulesSource {
  /** Everything that has rules now, without the base. */
  groups(): Iterable<string>;
  /** The rules of a group; empty where it is gone. */
  rulesOf(group: string, context: PlanContext): GroupRules;
  base(context: PlanContext): GroupRules;
}

/** What the rules are to be like, beside the services. */
export interface ProxierSetting {
  readonly context: PlanContext;
  /** Whether packets to loopback addresses are led on, so that strangers' have to be kept out. */
  readonly guardsLoopback: boolean;
}

export interface SyncReport {
  readonly kind: "full" | "partial" | "none";
  /** Tables that no packet met, in words. */
  readonly woken: readonly string[];
  /** Lines that were executed, and tables that were woken. */
  readonly lines: number;
}

export interface RepairReport {
  /** Whether an earlier write had failed; else others altered what is different. */
  readonly wasOwed: boolean;
  /** Lines that were executed, and tables that were woken; 0 where nothing was different. */
  readonly lines: number;
  /** The first of them. */
  readonly sample: readonly string[];
}

/** What the implementations of both families may share. */
export interface SharedByFamilies {
  /** Is told of all transactions. */
  readonly watch: ChangeWatch;
  /** In which all rules are worked out: who was first has the tool busy while the other one does. */
  readonly planning: Turns;
  /** Tables of nftables, which those of iptables-nft are; undefined with the legacy tools. */
  readonly nftTables: NftTables | undefined;
  readonly log: Log;
}

/** All rules that the kernel is to have. */
interface Wanted {
  readonly setting: ProxierSetting;
  readonly groups: ReadonlyMap<string, GroupRules>;
}

/** The same before they are worked out. */
interface Plan {
  readonly setting: ProxierSetting;
  /** How many groups there are. */
  readonly size: number;
  groups(): Iterable<readonly [string, GroupRules]>;
}

/** What is executed, and when that is done. */
interface Execution {
  readonly script: RestoreScript;
  readonly executed: Promise<void>;
}

/** What was executed. */
interface Written {
  readonly script: RestoreScript;
  /** Tables that no packet met, in words. */
  readonly woken: readonly string[];
  readonly lines: number;
}

/** From so many groups on, a kernel without any is told them while they are worked out. */
const MANY_GROUPS = 500;
const GROUPS_IN_A_STEP = 200;
/** Which table has most of the rules. */
const LARGEST_TABLE = "nat";
/** So many lines tell what a repair was about. */
const SAMPLE_LINES = 4;
const NOTHING_TO_DO: Execution = { script: new RestoreScript(), executed: Promise.resolve() };
const NO_REPAIR: RepairReport = { wasOwed: false, lines: 0, sample: [] };

/**
 * Keeps the rules of one family. Syncs tell only what changed; at first, after a failure, and where
 * the setting changed, the kernel's rules are read and what differs is told. One call at a time.
 */
export class FamilyProxier {
  readonly #tool: IptablesTool;
  readonly #source: RulesSource;
  readonly #watch: ChangeWatch;
  readonly #planning: Turns;
  readonly #nftTables: NftTables | undefined;
  readonly #log: Log;
  readonly #ruleset = new Ruleset();
  readonly #pending = new Set<string>();
  /** Of the rules that were last told; undefined before the first, and after `forget`. */
  #setting: ProxierSetting | undefined;
  /** What the kernel was to be told and may not have: the next sync or repair compares all of it. */
  #owed: Wanted | undefined;
  /** What the kernel's rules looked like when they were last found right. */
  #rightText: string | undefined;

  constructor(tool: IptablesTool, source: RulesSource, shared: SharedByFamilies) {
    this.#tool = tool;
    this.#source = source;
    this.#watch = shared.watch;
    this.#planning = shared.planning;
    this.#nftTables = shared.nftTables;
    this.#log = shared.log;
  }

  get ruleCount(): number {
    return this.#ruleset.ruleCount;
  }

  /** Whether the kernel may be without what it was to be told. */
  get isOwing(): boolean {
    return this.#owed !== undefined;
  }

  async sync(changed: Iterable<string>, setting: ProxierSetting): Promise<SyncReport> {
    for (const key of changed) this.#pending.add(key);
    if (this.isOwing || !deepEqual(this.#setting, setting)) return this.#syncAll(setting);
    const changes = new Map<string, GroupRules>();
    for (const key of this.#pending) {
      changes.set(key, this.#source.rulesOf(key, setting.context));
    }
    const script = this.#ruleset.change(changes);
    try {
      await this.#execute(script);
    } catch (error) {
      const { family } = this.#tool;
      this.#log.warn(
        { backend: "iptables", family, err: error },
        "a change was refused, so the rules are not as they were left: comparing all of them",
      );
      return this.#syncAll(setting);
    }
    this.#pending.clear();
    return { kind: script.isEmpty ? "none" : "partial", woken: [], lines: script.size };
  }

  /** Looks whether the kernel has what it was told, or was to be told, and repairs it. */
  async repair(): Promise<RepairReport> {
    const wasOwed = this.isOwing;
    const wanted = this.#owed ?? this.#told();
    if (wanted === undefined) return NO_REPAIR;
    const { setting, groups } = wanted;
    const plan = { setting, size: groups.size, groups: () => groups };
    const { script, woken, lines } = await this.#write(plan);
    return { wasOwed, lines, sample: [...woken, ...script.sample(SAMPLE_LINES)] };
  }

  /** The rules are gone, or about to go: nothing is known of them any more. */
  forget(): void {
    this.#setting = undefined;
    this.#owed = undefined;
    this.#rightText = undefined;
  }

  #told(): Wanted | undefined {
    return this.#setting && { setting: this.#setting, groups: this.#ruleset.groups() };
  }

  async #syncAll(setting: ProxierSetting): Promise<SyncReport> {
    this.#pending.clear();
    this.#rightText = undefined;
    const { woken, lines } = await this.#write(this.#planAll(setting));
    return { kind: "full", woken, lines };
  }

  #planAll(setting: ProxierSetting): Plan {
    const { context } = setting;
    const source = this.#source;
    const keys = [...source.groups()];
    return {
      setting,
      size: keys.length,
      groups: function* () {
        yield [BASE, source.base(context)];
        for (const key of keys) yield [key, source.rulesOf(key, context)];
      },
    };
  }

  /** Executes what differs between the kernel's rules and these; owed until that is done. */
  async #write(plan: Plan): Promise<Written> {
    let isWorkedOut = false;
    try {
      const { script, executed } = await this.#planning.take(() => this.#begin(plan));
      isWorkedOut = true;
      // The tool takes longer than these.
      this.#ruleset.hold();
      await executed;
      const woken = await this.#wake();
      this.#setting = plan.setting;
      this.#owed = undefined;
      return { script, woken, lines: script.size + woken.length };
    } catch (error) {
      const groups = isWorkedOut ? this.#ruleset.groups() : new Map(plan.groups());
      this.#owed = { setting: plan.setting, groups };
      throw error;
    }
  }

  /** After the rules: what packets then meet is right. */
  async #wake(): Promise<readonly string[]> {
    if (this.#nftTables === undefined) return [];
    return wakeOwnTables(this.#tool.family, this.#nftTables, this.#watch);
  }

  /** Settles when all is worked out, which the tool may be busy with for longer. */
  async #begin(plan: Plan): Promise<Execution> {
    const saved = withoutCounters(await this.#tool.save());
    if (saved === this.#rightText) return NOTHING_TO_DO;
    const actual = parseSave(saved);
    const hasNone = ![...actual.keys()].some(isOwnedChain);
    if (plan.size >= MANY_GROUPS && hasNone) return this.#tellAlong(plan, actual);
    const script = this.#ruleset.compare(actual, await workOut(plan));
    compareAround(actual, plan.setting, script);
    if (script.isEmpty) this.#rightText = saved;
    return { script, executed: this.#execute(script) };
  }

  /** Has the tool read the first rules while the others are worked out. */
  async #tellAlong(plan: Plan, actual: SavedChains): Promise<Execution> {
    const script = new RestoreScript();
    const { mode } = this.#tool;
    const ruleset = this.#ruleset;
    let onPlanned: () => void;
    const planned = new Promise<void>((resolve) => {
      onPlanned = resolve;
    });
    const steps = function* (): Generator<void> {
      yield* ruleset.fill(plan.groups(), script);
      compareAround(actual, plan.setting, script);
      onPlanned();
    };
    const executed = this.#watch.ours(
      () => script.transactionCount(mode),
      () => this.#tool.restore(script.renderAlong(mode, LARGEST_TABLE, steps())),
    );
    await Promise.race([planned, executed]);
    return { script, executed };
  }

  async #execute(script: RestoreScript): Promise<void> {
    if (script.isEmpty) return;
    this.#rightText = undefined;
    const { mode } = this.#tool;
    const restore = () => this.#tool.restore(script.render(mode));
    await this.#watch.ours(() => script.transactionCount(mode), restore);
  }
}

/** In steps: whoever reads what was told before is not held up. */
async function workOut(plan: Plan): Promise<ReadonlyMap<string, GroupRules>> {
  const groups = new Map<string, GroupRules>();
  for (const [key, group] of plan.groups()) {
    groups.set(key, group);
    if (groups.size % GROUPS_IN_A_STEP === 0) await nextTurn();
  }
  return groups;
}

/** What is to be done beside the rules of groups. */
function compareAround(actual: SavedChains, setting: ProxierSetting, script: RestoreScript): void {
  compareJumps(actual, JUMPS, isKubeJump, script);
  removeIpvsChains(actual, script);
  compareGuard(actual, setting.guardsLoopback, script);
}

/** Those that the mode IPVS left would go on refusing and marking packets. */
function removeIpvsChains(actual: SavedChains, script: RestoreScript): void {
  const otherHooks = new Map([...actual].filter(([chain]) => !JUMPS.has(chain)));
  removeJumps(otherHooks, isIpvsOnlyChain, isKubeJump, script);
  // Our own chains are written anew.
  const led = ledToByOthers(actual, isKubeProxyChain, isKubeJump);
  removeChains([...actual.keys()].filter(isIpvsOnlyChain), led, actual, script);
}

/** Without what changes by itself: when it was printed, and what was counted. */
function withoutCounters(save: string): string {
  return save.replace(/^#.*\n|(?<=^:\S+ \w+ )\[\d+:\d+\]$/gm, "");
}
