import type { NftListing } from "../../../platform/linux/nft/parse-listing.ts";
import type { NftElement } from "../../../platform/linux/nft/table-script.ts";
import type { TablePlanner } from "./table-planner.ts";

/** How a table differs from what it should be, in words; chains that no packet meets are not counted. */
export function differences(planner: TablePlanner, listing: NftListing): readonly string[] {
  const { chains, elements, obstacles } = planner.mendFor(listing);
  const name = `table ${planner.table.family} ${planner.table.name}`;
  return [
    ...chains.map((chain) =>
      listing.chains.has(chain.name)
        ? `chain ${chain.name} is another`
        : `chain ${chain.name} is missing`,
    ),
    ...obstacles,
    ...counted(elements.added, "missing"),
    ...counted(elements.removed, "unknown"),
  ].map((difference) => `${name}: ${difference}`);
}

/** Chains that should not be there; no packet meets them, since no others differ. */
export function unusedChains(planner: TablePlanner, { chains }: NftListing): readonly string[] {
  const expected = new Set([...planner.chains()].map(({ name }) => name));
  return [...chains.keys()].filter((name) => !expected.has(name));
}

function counted(elements: readonly NftElement[], what: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const { container } of elements) counts.set(container, (counts.get(container) ?? 0) + 1);
  return [...counts].map(([container, count]) => `${count} elements of ${container} are ${what}`);
}
