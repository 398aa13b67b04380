import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { IptablesMode } from "../../src/platform/linux/iptables/iptables-tool.ts";
import { median } from "../support/measure.ts";
import type { Figure } from "../support/report.ts";
import { most, progress, type Setting, stateOf, within } from "./setting.ts";
import { type SyncResult, syncOnce } from "./sync-once.ts";
import { readToolCalls } from "./tool-calls.ts";

/** The first sync may take so much more than the tool by itself. */
const TOOL_TIMES = 1.1;
const FIRST_MS = 1000;
const CHANGE_MS = 20;
/** The tool takes seconds for each. */
const CHANGES = 2;
/** No further round begins after that time. */
const ROUNDS_MS = 60_000;

interface Round {
  readonly sync: SyncResult;
  /** What the tools take for the same scripts, run by themselves. */
  readonly bareMs: number;
}

/** First sync and one endpoint's change, beside the tool by itself. */
export async function measureIptables(
  setting: Setting,
  mode: IptablesMode,
): Promise<readonly Figure[]> {
  const name = `iptables-${mode}`;
  const rounds: Round[] = [];
  const began = performance.now();
  do {
    const round = await measureRound(setting, mode);
    rounds.push(round);
    progress(`  round ${rounds.length}: first sync ${Math.round(round.sync.firstMs)} ms`);
  } while (rounds.length < setting.rounds && performance.now() - began < ROUNDS_MS);
  const of = (value: (round: Round) => number): number => median(rounds.map(value));
  const beyond = of(({ sync, bareMs }) => sync.firstMs - TOOL_TIMES * bareMs);
  return [
    most(
      `${name}: first sync of ${setting.services} services`,
      of(({ sync }) => sync.firstMs),
      "ms",
    ),
    most(
      "  iptables-restore of the same by itself",
      of(({ bareMs }) => bareMs),
      "ms",
    ),
    most(`  beyond ${TOOL_TIMES} times the tool's own time`, beyond, "ms", FIRST_MS),
    most(
      "  Portolan's own CPU",
      of(({ sync }) => sync.firstCpuMs),
      "ms",
    ),
    most(
      "  Portolan's memory",
      of(({ sync }) => sync.residentMegabytes),
      "MB",
    ),
    most(
      `${name}: one endpoint's change`,
      of(({ sync }) => sync.changeMs),
      "ms",
    ),
    most(
      "  beyond the tool's own time",
      of(({ sync }) => sync.changeOwnMs),
      "ms",
      CHANGE_MS,
    ),
  ];
}

async function measureRound(setting: Setting, mode: IptablesMode): Promise<Round> {
  const scripts = mkdtempSync(join(setting.folder, "scripts-"));
  const file = stateOf(setting, setting.services);
  const changes = Math.min(CHANGES, setting.changes);
  const sync = await syncOnce({
    backend: "iptables",
    file,
    changes,
    flags: iptablesFlags(mode),
    scripts,
  });
  return { sync, bareMs: await bareMs(scripts) };
}

/** What the tools were told, told once more in a namespace that has nothing. */
async function bareMs(scripts: string): Promise<number> {
  progress("the tools by themselves");
  return within((namespace) => {
    let sum = 0;
    for (const { program, args, stdin } of readToolCalls(scripts)) {
      sum += namespace.timeMs(program, args, stdin);
    }
    return sum;
  });
}

/** Without the pause between changes that it makes by default: it would be measured too. */
export function iptablesFlags(mode: IptablesMode): Readonly<Record<string, string>> {
  return { iptablesMode: mode, iptablesMinSyncPeriod: "0s" };
}
