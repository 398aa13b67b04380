import type { Finding } from "../../backends/backend.ts";

/** One thing that may or may not work on this machine. */
export interface Surveyed {
  readonly name: string;
  /** What it is for. */
  readonly summary: string;
  /** None: it works. */
  readonly findings: readonly Finding[];
}

/** What works on this machine. */
export interface Survey {
  /** How sockets and timers are reached. */
  readonly providers: readonly Surveyed[];
  readonly backends: readonly Surveyed[];
  /** What the kernel gives; empty where it is not Linux. */
  readonly kernel: readonly Surveyed[];
  /** What `--to auto` comes to; undefined where nothing works. */
  readonly auto: string | undefined;
}

export type Verdict = "works" | "degraded" | "missing";

export function verdictOf({ findings }: Surveyed): Verdict {
  if (findings.some(({ severity }) => severity === "missing")) return "missing";
  return findings.length > 0 ? "degraded" : "works";
}
