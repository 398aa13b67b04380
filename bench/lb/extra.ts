import type { Figure } from "../support/report.ts";

/** What a part of the benchmark beside the loads of HTTP found. */
export interface Extra {
  /** For people. */
  readonly text: string;
  readonly figures: readonly Figure[];
  /** All values, by what they are of. */
  readonly values: Readonly<Record<string, readonly number[]>>;
}

export interface ExtraOptions {
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
  /** Of the HTTP servers behind the proxies. */
  readonly serverPorts: readonly number[];
  /** Folder of another build of Portolan, to compare this one with. */
  readonly otherBuild?: string | undefined;
}
