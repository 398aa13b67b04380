import type { LiveAnswer } from "../backends/backend.ts";
import { describeDeviation, deviationsOf } from "../backends/deviations.ts";
import { loadBackend } from "../backends/registry.ts";
import { CoreError } from "../core/errors.ts";
import type { ValuesOf } from "../core/options/option-spec.ts";
import type { Packet } from "../core/route/packet.ts";
import type { Verdict } from "../core/route/verdict.ts";
import { refuseBackend } from "../daemon/backend-words.ts";
import { Faults } from "../daemon/faults.ts";

export const BACKEND_OPTIONS = {
  backend: {
    kind: "string",
    placeholder: "BACKEND",
    suggestions: ["nftables", "iptables", "userspace"],
    help: "say also what this backend does otherwise",
  },
  live: {
    kind: "boolean",
    help: "read from the kernel what the packet meets at this moment, and compare",
  },
} as const;

/** What one backend does otherwise than the reference says. */
export interface BackendNotes {
  readonly name: string;
  readonly deviations: readonly string[];
}

/** Where its data plane itself sends a packet. */
export type AskLive = (packet: Packet) => Promise<LiveAnswer>;

/** @throws CoreError ERR_USAGE, ERR_NOT_POSSIBLE_HERE */
export async function backendNotes(
  options: ValuesOf<typeof BACKEND_OPTIONS>,
): Promise<BackendNotes | undefined> {
  const { backend: name, live } = options;
  if (name === undefined) {
    if (live) throw new CoreError("ERR_USAGE", "--live: expected --backend BACKEND with it");
    return undefined;
  }
  if ((await loadBackend(name)) === undefined) throw refusalOf(name);
  return {
    name,
    deviations: deviationsOf(name).map(describeDeviation),
  };
}

/** Undefined where nobody wants to know. @throws CoreError ERR_NOT_POSSIBLE_HERE */
export async function askLiveOf({
  backend: name = "",
  live,
}: ValuesOf<typeof BACKEND_OPTIONS>): Promise<AskLive | undefined> {
  if (!live) return undefined;
  const explainLive = (await loadBackend(name))?.explainLive;
  if (explainLive !== undefined) return explainLive;
  throw new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    `--live: the backend "${name}" has no data plane to ask; without --live the rules are explained`,
  );
}

/** A word of the command line: wrong usage, as with `run --to`. */
function refusalOf(name: string): CoreError {
  const faults = new Faults();
  faults.attempt(() => refuseBackend(name, "--backend"));
  return faults.error();
}

/** What the data plane says, held against the reference. */
export interface LiveComparison {
  readonly lines: readonly string[];
  readonly differences: readonly string[];
  /** What is not known and may make it differ; empty where it does. */
  readonly doubts: readonly string[];
}

export function compareLive(live: LiveAnswer, verdict: Verdict): LiveComparison {
  const differences = live.differencesFrom(verdict);
  const doubts = differences.length > 0 ? [] : live.doubtsAbout(verdict);
  return { lines: live.lines, differences, doubts };
}

export function isAgreed({ differences, doubts }: LiveComparison): boolean {
  return differences.length === 0 && doubts.length === 0;
}

export function describeLive({ lines, differences, doubts }: LiveComparison): string[] {
  return [
    "The data plane at this moment",
    ...lines.map((line) => `  ${line}`),
    ...conclusionOf(differences, doubts),
  ];
}

function conclusionOf(differences: readonly string[], doubts: readonly string[]): string[] {
  if (differences.length > 0) {
    return ["It DIFFERS from the reference", ...differences.map((line) => `  - ${line}`)];
  }
  if (doubts.length === 0) return ["It does as the reference says"];
  const what = doubts.map((line) => `  - not known: ${line}`);
  return ["It can NOT BE TOLD whether it does as the reference says", ...what];
}

export function describeNotes(notes: BackendNotes | undefined): readonly string[] {
  if (notes === undefined) return [];
  const { name, deviations } = notes;
  if (deviations.length === 0) return [`The backend ${name} declares no deviation`];
  return [`The backend ${name} deviates`, ...deviations.map((line) => `  - ${line}`)];
}
