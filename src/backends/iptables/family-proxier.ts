import type { Log } from "../../core/log.ts";
import { deepEqual } from "../../core/model/equal.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { IptablesTool } from "./iptables-tool.ts";
import type { GroupRules } from "./plan/group-rules.ts";
import { compareGuard, compareJumps } from "./plan/jumps.ts";
import { parseSave, type SavedChains } from "./plan/parse-save.ts";
import type { PlanContext } from "./plan/plan-context.ts";
import type { RestoreScript } from "./plan/restore-script.ts";
import { BASE, Ruleset } from "./plan/ruleset.ts";

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
  /** Lines that were executed. */
  readonly lines: number;
}

/**
 * Keeps the rules of one family. Syncs tell only what changed; at first, after a failure, and where
 * the setting changed, the kernel's rules are read and what differs is told. One call at a time.
 */
export class FamilyProxier {
  readonly #tool: IptablesTool;
  readonly #source: RulesSource;
  readonly #watch: ChangeWatch;
  readonly #log: Log;
  readonly #ruleset = new Ruleset();
  readonly #pending = new Set<string>();
  /** Undefined where it is not known what the kernel has. */
  #setting: ProxierSetting | undefined;
  /** What the kernel's rules looked like when they were last found right. */
  #rightText: string | undefined;

  /** @param watch is told of all transactions; both families may share one */
  constructor(tool: IptablesTool, source: RulesSource, watch: ChangeWatch, log: Log) {
    this.#tool = tool;
    this.#source = source;
    this.#watch = watch;
    this.#log = log;
  }

  get ruleCount(): number {
    return this.#ruleset.ruleCount;
  }

  async sync(changed: Iterable<string>, setting: ProxierSetting): Promise<SyncReport> {
    for (const key of changed) this.#pending.add(key);
    if (this.#setting === undefined || !deepEqual(this.#setting, setting)) {
      return this.#syncAll(setting);
    }
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
    return { kind: script.isEmpty ? "none" : "partial", lines: script.size };
  }

  /**
   * Looks whether the kernel still has what it was told, and repairs it.
   * @returns how many lines it took; 0 where nothing was altered
   */
  async repair(): Promise<number> {
    const setting = this.#setting;
    if (setting === undefined) return 0;
    const text = withoutCounters(await this.#tool.save());
    if (text === this.#rightText) return 0;
    const script = this.#compare(parseSave(text), this.#ruleset.groups(), setting);
    await this.#execute(script);
    if (script.isEmpty) this.#rightText = text;
    return script.size;
  }

  /** The rules are gone, or about to go: nothing is known of them any more. */
  forget(): void {
    this.#setting = undefined;
  }

  async #syncAll(setting: ProxierSetting): Promise<SyncReport> {
    const { context } = setting;
    const groups = new Map<string, GroupRules>([[BASE, this.#source.base(context)]]);
    for (const key of this.#source.groups()) groups.set(key, this.#source.rulesOf(key, context));
    this.#pending.clear();
    const script = this.#compare(parseSave(await this.#tool.save()), groups, setting);
    await this.#execute(script);
    this.#setting = setting;
    return { kind: "full", lines: script.size };
  }

  #compare(
    actual: SavedChains,
    groups: ReadonlyMap<string, GroupRules>,
    { guardsLoopback }: ProxierSetting,
  ): RestoreScript {
    const script = this.#ruleset.compare(actual, groups);
    compareJumps(actual, script);
    compareGuard(actual, guardsLoopback, script);
    return script;
  }

  async #execute(script: RestoreScript): Promise<void> {
    if (script.isEmpty) return;
    this.#rightText = undefined;
    try {
      await this.#watch.ours(script.tableCount, () => this.#tool.restore(script.render()));
    } catch (error) {
      this.#setting = undefined;
      throw error;
    }
  }
}

/** Without what changes by itself: when it was printed, and what was counted. */
function withoutCounters(save: string): string {
  return save.replace(/^#.*\n|(?<=^:\S+ \w+ )\[\d+:\d+\]$/gm, "");
}
