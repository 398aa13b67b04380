import { type ChainId, chainId, tableOf } from "./chain-id.ts";
import { bareText } from "./rule.ts";

/** Where a rule of a chain leads, as a chain of the same table. */
export function targetOf(chain: ChainId, rule: string): ChainId | undefined {
  // A comment is free text, and may name chains.
  const target = /(?:^| )-[jg] (\S+)/.exec(bareText(rule))?.[1];
  return target === undefined ? undefined : chainId(tableOf(chain), target);
}
