/** Something that a data plane can not do as the reference semantics say. */
export interface Deviation {
  /** Unique, such as `hcn/affinity-timeout`. */
  readonly id: string;
  /** Name of the backend. */
  readonly backend: string;
  /** The names of the scenarios that come out otherwise; all of them, and no others. */
  readonly scenarios: RegExp;
  /** What the platform forbids, as a sentence. */
  readonly fact: string;
  /** What happens in place of what the reference says, as a sentence. */
  readonly instead: string;
  /** The test that shows the platform refusing: `FILE: NAME`. */
  readonly evidence: string;
}

/** All deviations of all backends. What is not in here and comes out otherwise is a bug. */
export const DEVIATIONS: readonly Deviation[] = [];

/** Those of one backend, for its status and its documentation. */
export function deviationsOf(
  backend: string,
  table: readonly Deviation[] = DEVIATIONS,
): readonly Deviation[] {
  return table.filter((deviation) => deviation.backend === backend);
}
