import type { RulePlace } from "./parse-expression.ts";

/** Rules as people know them. */
export interface RuleTexts {
  textOf(place: RulePlace, handle: number): string | undefined;
}

const TABLE = /^table (\S+) (\S+) \{/;
const RULE = /^\t\t(.+) # handle (\d+)$/;

/** Reads what `nft -a -t list ruleset` prints: handles tell which rule is which. */
export function parseRuleTexts(listing: string): RuleTexts {
  const texts = new Map<string, string>();
  let table = "";
  for (const line of listing.split("\n")) {
    const opened = TABLE.exec(line);
    if (opened !== null) table = `${opened[1]} ${opened[2]}`;
    const rule = RULE.exec(line);
    if (rule !== null) texts.set(`${table} ${rule[2]}`, rule[1] ?? "");
  }
  return { textOf: ({ family, table: name }, handle) => texts.get(`${family} ${name} ${handle}`) };
}
