import type { NftListing } from "../../../platform/linux/nft/parse-listing.ts";
import { elementText } from "../../../platform/linux/nft/table-script.ts";
import { containersOf, FILLED_BY_KERNEL } from "./containers.ts";
import type { TablePlanner } from "./table-planner.ts";

/** How a table differs from what it should be, in words; chains that no packet meets are not counted. */
export function differences(planner: TablePlanner, listing: NftListing): readonly string[] {
  const name = `table ${planner.table.family} ${planner.table.name}`;
  return [...chainDifferences(planner, listing), ...elementDifferences(planner, listing)].map(
    (difference) => `${name}: ${difference}`,
  );
}

/** Chains that should not be there; no packet meets them, since no others differ. */
export function unusedChains(planner: TablePlanner, { chains }: NftListing): readonly string[] {
  const expected = new Set([...planner.chains()].map(({ name }) => name));
  return [...chains.keys()].filter((name) => !expected.has(name));
}

function chainDifferences(planner: TablePlanner, { chains }: NftListing): readonly string[] {
  const found: string[] = [];
  const expected = new Set<string>();
  for (const { name, hook, rules } of planner.chains()) {
    expected.add(name);
    const listed = chains.get(name);
    const lines = hook === undefined ? rules : [hook, ...rules];
    if (listed === undefined) found.push(`chain ${name} is missing`);
    else if (listed.lines.join("\n") !== lines.join("\n")) found.push(`chain ${name} is another`);
  }
  for (const [name, { lines }] of chains) {
    if (!expected.has(name) && isBaseChain(lines)) found.push(`chain ${name} is unknown`);
  }
  return found;
}

function isBaseChain(lines: readonly string[]): boolean {
  return lines[0]?.startsWith("type ") === true;
}

function elementDifferences(planner: TablePlanner, { containers }: NftListing): readonly string[] {
  const expected = new Map<string, Set<string>>();
  for (const { name } of containersOf(planner.facts.family)) expected.set(name, new Set());
  for (const element of planner.elements()) {
    expected.get(element.container)?.add(elementText(element));
  }
  const found: string[] = [];
  for (const [name, wanted] of expected) {
    const listed = containers.get(name);
    if (listed === undefined) {
      found.push(`${name} is missing`);
      continue;
    }
    if (name === FILLED_BY_KERNEL) continue;
    const unknown = listed.elements.filter((element) => !wanted.delete(element)).length;
    if (wanted.size > 0) found.push(`${wanted.size} elements of ${name} are missing`);
    if (unknown > 0) found.push(`${unknown} elements of ${name} are unknown`);
  }
  return found;
}
