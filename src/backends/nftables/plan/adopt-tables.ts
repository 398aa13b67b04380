import type { NftListing } from "../../../platform/linux/nft/parse-listing.ts";
import { unusedChains } from "./compare-listing.ts";
import type { TablePlanner } from "./table-planner.ts";

/** What the kernel holds of each table; one that is not there is missing. */
export type Listings = ReadonlyMap<TablePlanner, NftListing>;

/**
 * Makes what differs from what the kernel holds the only thing to be done.
 * @returns false where that is not enough, and all has to be written
 */
export function adoptTables(tables: readonly TablePlanner[], found: Listings): boolean {
  const mends = tables.map((table) => {
    const listing = found.get(table);
    return listing && { table, listing, mend: table.mendFor(listing) };
  });
  for (const one of mends) {
    if (one === undefined || one.mend.obstacles.length > 0) return false;
  }
  for (const one of mends) {
    if (one === undefined) continue;
    one.table.retire(unusedChains(one.table, one.listing));
    one.table.adopt(one.mend);
  }
  return true;
}
