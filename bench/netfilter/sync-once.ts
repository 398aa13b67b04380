import { basename } from "node:path";
import { numbersFrom } from "../support/results.ts";
import { NODE, progress, within } from "./setting.ts";

const SYNC: URL = new URL("./tasks/sync.js", import.meta.url);
const NUMBERS = [
  "firstMs",
  "firstCpuMs",
  "changeMs",
  "changeOwnMs",
  "residentMegabytes",
  "restartMs",
  "restartToolMs",
] as const;

export interface SyncRun {
  readonly backend: string;
  /** A state, as `stateOf` makes it. */
  readonly file: string;
  /** Of one endpoint each; none: a restart is measured in their place. */
  readonly changes: number;
  /** Options of the backend. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Where to keep what the tools were told at the first sync. */
  readonly scripts?: string;
}

export type SyncResult = Readonly<Record<(typeof NUMBERS)[number], number>>;

/** A node's whole state in an empty namespace, then changes or a restart. */
export async function syncOnce(run: SyncRun): Promise<SyncResult> {
  progress(`${run.backend} ${run.flags?.["iptablesMode"] ?? ""}: ${basename(run.file)}`);
  return within(async (namespace) =>
    numbersFrom(await namespace.runTask(SYNC, argumentsOf(run)), NUMBERS),
  );
}

/** Those of the task. */
function argumentsOf(run: SyncRun): readonly string[] {
  const { backend, file, changes, flags = {}, scripts = "" } = run;
  return [backend, file, NODE, String(changes), JSON.stringify(flags), scripts];
}

/** The same several times. */
export async function syncRounds(rounds: number, run: SyncRun): Promise<readonly SyncResult[]> {
  const results: SyncResult[] = [];
  for (let round = 0; round < rounds; round += 1) results.push(await syncOnce(run));
  return results;
}
