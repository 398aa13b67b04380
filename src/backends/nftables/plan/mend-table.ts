import type { ListedChain, NftListing } from "../../../platform/linux/nft/parse-listing.ts";
import {
  elementText,
  type NftChain,
  type NftElement,
} from "../../../platform/linux/nft/table-script.ts";
import { FILLED_BY_KERNEL } from "./containers.ts";
import type { ElementChanges } from "./frontend-table.ts";

/** What a table needs to be as it should; chains that no packet meets are not counted. */
export interface TableMend {
  /** Those that are missing, or hold other rules. */
  readonly chains: readonly NftChain[];
  readonly elements: ElementChanges;
  /** What is not put right by writing chains and elements, in words. */
  readonly obstacles: readonly string[];
}

/** What a table should hold. */
export interface WantedTable {
  readonly containers: readonly { readonly name: string }[];
  chains(): Iterable<NftChain>;
  elements(): Iterable<NftElement>;
}

export function mendTable(wanted: WantedTable, listing: NftListing): TableMend {
  const obstacles = listing.flags.map((flag) => `it has the flag ${flag}`);
  const chains = mendChains(wanted, listing, obstacles);
  const elements = mendElements(wanted, listing, obstacles);
  return { chains, elements, obstacles };
}

function mendChains(
  wanted: WantedTable,
  { chains }: NftListing,
  obstacles: string[],
): readonly NftChain[] {
  const others: NftChain[] = [];
  const expected = new Set<string>();
  for (const chain of wanted.chains()) {
    const { name, hook } = chain;
    expected.add(name);
    const listed = chains.get(name);
    if (listed !== undefined && hookOf(listed) !== hook) obstacles.push(`chain ${name} is another`);
    else if (listed === undefined || !hasRules(listed, chain)) others.push(chain);
  }
  for (const [name, listed] of chains) {
    const isMet = hookOf(listed) !== undefined;
    if (isMet && !expected.has(name)) obstacles.push(`chain ${name} is unknown`);
  }
  return others;
}

function hookOf({ lines: [first] }: ListedChain): string | undefined {
  return first?.startsWith("type ") === true ? first : undefined;
}

function hasRules({ lines }: ListedChain, { hook, rules }: NftChain): boolean {
  const expected = hook === undefined ? rules : [hook, ...rules];
  return lines.length === expected.length && lines.every((line, index) => line === expected[index]);
}

function mendElements(
  wanted: WantedTable,
  { containers }: NftListing,
  obstacles: string[],
): ElementChanges {
  // Of hundreds of thousands most are right: only those that are not are kept.
  const unmatched = new Map<string, Set<string>>();
  for (const { name } of wanted.containers) {
    const listed = containers.get(name);
    if (listed === undefined) obstacles.push(`${name} is missing`);
    else if (name !== FILLED_BY_KERNEL) unmatched.set(name, new Set(listed.elements));
  }
  const added: NftElement[] = [];
  for (const element of wanted.elements()) {
    if (unmatched.get(element.container)?.delete(elementText(element)) === false) {
      added.push(element);
    }
  }
  const removed: NftElement[] = [];
  for (const [container, texts] of unmatched) {
    for (const text of texts) removed.push({ container, key: keyIn(text) });
  }
  return { removed, added };
}

const KEY = /^\S+(?: \. \S+)*/;

/** Of an element as nft lists it: `10.0.0.1 . tcp . 80 comment "default/web" : goto random-3`. */
function keyIn(text: string): string {
  return KEY.exec(text)?.[0] ?? text;
}
