import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest, the longest first: begun last, one of them would run alone at the end. */
const LONGEST = [
  /\/test\/ipvs\//,
  /\.contract\.test\.ts$/,
  /\/test\/netns\//,
  /\/test\/kernel\//,
  /\/test\/windows\//,
  /\/test\/e2e\//,
  // The longest among those that take seconds.
  /\/(simulated-hour|explain-scenarios|nftables-backend|kube-source|http-limits|resp-abuse|measure-calls|random-states)\.test\.ts$/,
];

/** Puts the long tests before the others; among themselves they stay as vitest has them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((form) => form.test(moduleId));
  return rank < 0 ? LONGEST.length : rank;
}
