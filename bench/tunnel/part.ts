import type { Figure } from "../support/report.ts";

export interface PartOptions {
  /** Files of a part go here; it is removed in the end. */
  readonly folder: string;
  readonly rounds: number;
  /** Of one round for one contestant. */
  readonly seconds: number;
  readonly isQuick: boolean;
}

/** What a part of the benchmark found. */
export interface PartResult {
  /** For people. */
  readonly text: string;
  readonly figures: readonly Figure[];
  /** All values, by what they are of. */
  readonly values: Readonly<Record<string, readonly number[]>>;
}

export type Part = (options: PartOptions) => Promise<PartResult>;
