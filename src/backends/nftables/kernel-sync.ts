import type { Log } from "../../core/log.ts";
import { isExists, isNotFound, isRefused, type Nft } from "../../platform/linux/nft/nft.ts";
import type { NftGeneration } from "../../platform/linux/nft/nft-generation.ts";
import type { NftListing } from "../../platform/linux/nft/parse-listing.ts";
import { differences, unusedChains } from "./plan/compare-listing.ts";
import type { TablePlanner } from "./plan/table-planner.ts";

export interface KernelSyncOptions {
  readonly nft: Nft;
  readonly generation: NftGeneration;
  readonly tables: readonly TablePlanner[];
  readonly log: Log;
}

/** What it did so far. */
export interface SyncCounts {
  readonly transactions: number;
  /** Those that wrote everything anew. */
  readonly full: number;
  /** How often others had changed what is ours. */
  readonly repairs: number;
}

type Listings = ReadonlyMap<TablePlanner, NftListing>;

/**
 * Makes the kernel hold what the tables should, in one transaction each time. Calls must not overlap.
 */
export class KernelSync {
  readonly #nft: Nft;
  readonly #generation: NftGeneration;
  readonly #tables: readonly TablePlanner[];
  readonly #log: Log;
  /** What the kernel held at the start; undefined once that was looked at. */
  #found: Listings | undefined;
  /** Nobody but us changed rules up to this generation; undefined where that is not known. */
  #trusted: number | undefined;
  #isInSync = false;
  #counts = { transactions: 0, full: 0, repairs: 0 };

  constructor({ nft, generation, tables, log }: KernelSyncOptions) {
    this.#nft = nft;
    this.#generation = generation;
    this.#tables = tables;
    this.#log = log;
  }

  counts(): SyncCounts {
    return this.#counts;
  }

  /** Reads what an earlier run left, so that it may stay. To be called before the first plan. */
  async readKernel(): Promise<void> {
    const { listings, generation } = await this.#list();
    for (const [table, listing] of listings) table.seedSlots(listing);
    this.#found = listings;
    this.#trusted = generation;
  }

  /** @throws CoreError ERR_PROGRAM_FAILED; then the next call does it again */
  async sync(): Promise<void> {
    this.#isInSync = false;
    if (this.#found === undefined) await this.#syncChanges();
    else await this.#adopt(this.#found);
    this.#found = undefined;
    this.#isInSync = true;
  }

  /** Looks for what others changed, where anything did, and puts it right. */
  async check(): Promise<void> {
    if (!this.#isInSync) return;
    // What waits for a later transaction, such as chains that nobody needs any more.
    await this.#syncChanges();
    if ((await this.#generation.read()) === this.#trusted) return;
    const { listings, generation } = await this.#list();
    const found = [...this.#differences(listings), ...strangeChains(listings)];
    this.#trusted = generation;
    if (found.length === 0) return;
    this.#counts.repairs += 1;
    this.#log.warn(
      { differences: found },
      `others changed the rules, which is undone: ${found[0]}`,
    );
    this.#isInSync = false;
    await this.#writeAll(listings);
    this.#isInSync = true;
  }

  /** Removes everything; succeeds where nothing is left. */
  async removeAll(): Promise<void> {
    this.#isInSync = false;
    const lines = this.#tables.flatMap(({ table: { family, name } }) => [
      `add table ${family} ${name}`,
      `delete table ${family} ${name}`,
    ]);
    await this.#nft.run(`${lines.join("\n")}\n`);
  }

  async #syncChanges(): Promise<void> {
    const script = this.#tables.map((table) => table.changesScript()).join("");
    if (script === "") return this.#commit();
    try {
      await this.#transact(script);
    } catch (error) {
      if (!isExists(error) && !isNotFound(error)) throw error;
      this.#counts.repairs += 1;
      this.#log.warn(
        { err: error },
        "the kernel holds something else than was written: all is written anew",
      );
      return this.#writeAll(new Map());
    }
    this.#commit();
  }

  /** What an earlier run left stays as it is where it is what should be there. */
  async #adopt(found: Listings): Promise<void> {
    if (this.#differences(found).length > 0) return this.#writeAll(found);
    for (const [table, listing] of found) table.retire(unusedChains(table, listing));
    this.#commit();
  }

  #differences(listings: Listings): readonly string[] {
    return this.#tables.flatMap((table) => {
      const listing = listings.get(table);
      const { family, name } = table.table;
      return listing === undefined
        ? [`table ${family} ${name} is missing`]
        : differences(table, listing);
    });
  }

  async #writeAll(found: Listings): Promise<void> {
    const script = this.#tables.map((table) => table.fullScript(found.get(table))).join("");
    this.#counts.full += 1;
    try {
      await this.#transact(script);
    } catch (error) {
      if (!isRefused(error)) throw error;
      this.#log.warn({ err: error }, "the tables can not be mended: they are made anew");
      await this.#transact(this.#tables.map((table) => table.recreateScript()).join(""));
    }
    for (const table of this.#tables) table.commitFull();
  }

  /** Each transaction makes one generation: where it is not the next one, others were there too. */
  async #transact(script: string): Promise<void> {
    const before = await this.#generation.read();
    if (before !== this.#trusted) this.#trusted = undefined;
    await this.#nft.run(script);
    this.#counts.transactions += 1;
    if (this.#trusted !== undefined) this.#trusted += 1;
  }

  #commit(): void {
    for (const table of this.#tables) table.commit();
  }

  /** Undefined as generation where others changed rules in the meantime. */
  async #list(): Promise<{ listings: Listings; generation: number | undefined }> {
    const before = await this.#generation.read();
    const listings = new Map<TablePlanner, NftListing>();
    for (const table of this.#tables) {
      const listing = await this.#nft.list(table.table);
      if (listing !== undefined) listings.set(table, listing);
    }
    const after = await this.#generation.read();
    return { listings, generation: before === after ? after : undefined };
  }
}

/** Chains that were not there before: not ours. */
function strangeChains(listings: Listings): readonly string[] {
  return [...listings].flatMap(([table, listing]) =>
    unusedChains(table, listing).map((name) => `chain ${name} is unknown`),
  );
}
