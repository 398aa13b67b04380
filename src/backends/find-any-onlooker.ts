import type { OwnRules } from "../platform/linux/onlookers.ts";
import type { Sysctl } from "../platform/linux/sysctl.ts";
import type { FastWorld } from "./fast-world.ts";

const ACCOUNTING = "net.netfilter.nf_conntrack_acct";

/** What is asked. */
export interface OnlookerQuestion {
  readonly own: OwnRules;
  readonly sysctl: Pick<Sysctl, "read">;
  readonly findOnlooker: FastWorld["findOnlooker"];
}

/**
 * Who would miss packets that pass without the rules, in words: who wants those of each tracked flow counted, or has
 * rules that they meet.
 */
export async function findAnyOnlooker({
  own,
  sysctl,
  findOnlooker,
}: OnlookerQuestion): Promise<string | undefined> {
  const isAccounted = (await sysctl.read(ACCOUNTING)) === "1";
  return isAccounted ? `the accounting of tracked flows (${ACCOUNTING} is 1)` : findOnlooker(own);
}
