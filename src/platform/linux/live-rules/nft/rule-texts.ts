import type { RulePlace } from "./parse-expression.ts";

/** Rules as people know them. */
export interface RuleTexts {
  textOf(place: RulePlace, handle: number): string | undefined;
  /** The links whose packets a chain is for, which the JSON of nft 1.0.6 lacks; empty where it names none. */
  linksOf(place: RulePlace, chain: string): readonly string[];
}

const TABLE = /^table (\S+) (\S+) \{/;
const CHAIN = /^\tchain (\S+) \{/;
const DEVICES = /^\t\ttype \S+ hook \S+ devices? (?:= \{ )?(.*?)(?: \})? priority /;
const RULE = /^\t\t(.+) # handle (\d+)$/;

/** Reads what `nft -a -t list ruleset` prints: handles tell which rule is which. */
export function parseRuleTexts(listing: string): RuleTexts {
  const texts = new Map<string, string>();
  const links = new Map<string, readonly string[]>();
  let table = "";
  let chain = "";
  for (const line of listing.split("\n")) {
    const opened = TABLE.exec(line);
    if (opened !== null) table = `${opened[1]} ${opened[2]}`;
    chain = CHAIN.exec(line)?.[1] ?? chain;
    const devices = DEVICES.exec(line)?.[1];
    if (devices !== undefined) links.set(`${table} ${chain}`, namesIn(devices));
    const rule = RULE.exec(line);
    if (rule !== null) texts.set(`${table} ${rule[2]}`, rule[1] ?? "");
  }
  return {
    textOf: ({ family, table: name }, handle) => texts.get(`${family} ${name} ${handle}`),
    linksOf: ({ family, table: name }, of) => links.get(`${family} ${name} ${of}`) ?? [],
  };
}

/** `"eth0", "eth1"`; some versions of nft print names without quotes. */
function namesIn(text: string): readonly string[] {
  return text.split(",").map((name) => name.trim().replaceAll('"', ""));
}
