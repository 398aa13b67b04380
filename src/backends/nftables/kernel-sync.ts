import type { Log } from "../../core/log.ts";
import { listTable } from "../../platform/linux/nft/list-table.ts";
import { isExists, isNotFound, isRefused, type Nft } from "../../platform/linux/nft/nft.ts";
import type { NftElements, TransactionOutcome } from "../../platform/linux/nft/nft-elements.ts";
import type { NftGeneration } from "../../platform/linux/nft/nft-generation.ts";
import type { NftListing } from "../../platform/linux/nft/parse-listing.ts";
import { adoptTables, type Listings } from "./plan/adopt-tables.ts";
import { differences, unusedChains } from "./plan/compare-listing.ts";
import { elementMessages, fillingOf } from "./plan/element-messages.ts";
import type { TablePlanner } from "./plan/table-planner.ts";

export interface KernelSyncOptions {
  readonly nft: Nft;
  readonly elements: NftElements;
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

/** Fewer are one transaction of nft, with the tables. */
const MANY_ELEMENTS = 1000;
/** What the kernel may have no room for at a time. */
const MANY_MESSAGES = 8;
const APPLIED: TransactionOutcome = { kind: "applied" };

/**
 * Makes the kernel hold what the tables should, in one transaction each time. Calls must not overlap.
 */
export class KernelSync {
  readonly #nft: Nft;
  readonly #elements: NftElements;
  readonly #generation: NftGeneration;
  readonly #tables: readonly TablePlanner[];
  readonly #log: Log;
  /** What the kernel was seen to hold that is not looked at or put right yet. */
  #found: Listings | undefined;
  /** Nobody but us changed rules up to this generation; undefined where that is not known. */
  #trusted: number | undefined;
  /** What should be there is known, and should stay there. */
  #isWatching = false;
  /** What the kernel holds is not known: a write failed, or everything was removed. */
  #owesAll = false;
  #counts = { transactions: 0, full: 0, repairs: 0 };

  constructor({ nft, elements, generation, tables, log }: KernelSyncOptions) {
    this.#nft = nft;
    this.#elements = elements;
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

  /**
   * @throws CoreError ERR_PROGRAM_FAILED or ERR_SYSTEM_CALL; then the next `sync` or `check` writes
   * everything
   */
  async sync(): Promise<void> {
    this.#isWatching = true;
    const found = this.#found;
    await this.#write(async () => {
      if (this.#owesAll) return this.#writeAll((await this.#list()).listings);
      return found === undefined ? this.#syncChanges() : this.#adopt(found);
    });
  }

  /**
   * Looks for what others changed, where anything did, and puts it right; so too what an earlier call
   * could not write.
   * @throws as `sync`
   */
  async check(): Promise<void> {
    if (!this.#isWatching) return;
    // Also what waits for a later transaction, such as chains that nobody needs any more.
    await this.sync();
    if ((await this.#generation.read()) === this.#trusted) return;
    const { listings, generation } = await this.#list();
    const found = [...this.#differences(listings), ...strangeChains(listings)];
    this.#trusted = generation;
    if (found.length === 0) return;
    this.#found = listings;
    this.#counts.repairs += 1;
    this.#log.warn(
      { differences: found },
      `others changed the rules, which is undone: ${found[0]}`,
    );
    await this.#write(() => this.#writeAll(listings));
  }

  /** Removes everything; succeeds where nothing is left. */
  async removeAll(): Promise<void> {
    this.#isWatching = false;
    this.#owesAll = true;
    const lines = this.#tables.flatMap(({ table: { family, name } }) => [
      `add table ${family} ${name}`,
      `delete table ${family} ${name}`,
    ]);
    await this.#nft.run(`${lines.join("\n")}\n`);
  }

  /** A write that failed may be in the kernel all the same: what was last committed says nothing. */
  async #write(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#owesAll = true;
      throw error;
    }
    this.#owesAll = false;
    this.#found = undefined;
  }

  async #syncChanges(): Promise<void> {
    const outcome = await this.#applyChanges();
    if (outcome.kind === "applied") return this.#commit();
    this.#counts.repairs += 1;
    this.#log.warn(
      { err: outcome.error },
      "the kernel holds something else than was written: all is written anew",
    );
    await this.#writeAll(undefined);
  }

  /** Elements go straight to the kernel; what is more than that goes through nft. */
  async #applyChanges(): Promise<TransactionOutcome> {
    const messages = elementMessages(this.#tables);
    if (messages === undefined) return this.#runChanges();
    if (messages.length === 0) return APPLIED;
    try {
      return await this.#transact(() => this.#elements.run(messages));
    } catch (error) {
      if (messages.length < MANY_MESSAGES) throw error;
      this.#log.warn(
        { err: error },
        "many elements could not be changed by netlink: nft is told them",
      );
      return this.#runChanges();
    }
  }

  async #runChanges(): Promise<TransactionOutcome> {
    const script = this.#tables.map((table) => table.changesScript()).join("");
    try {
      return await this.#transactScript(script);
    } catch (error) {
      if (isExists(error) || isNotFound(error)) return { kind: "unexpected", error };
      throw error;
    }
  }

  /** Of what an earlier run left, all stays that should be there. */
  async #adopt(found: Listings): Promise<void> {
    if (!adoptTables(this.#tables, found)) return this.#writeAll(found);
    try {
      await this.#syncChanges();
    } catch (error) {
      // Such as elements of what has the same name, and holds other things.
      if (!isRefused(error)) throw error;
      await this.#writeAll(found);
    }
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

  async #writeAll(found: Listings | undefined): Promise<void> {
    if (found?.size === 0 && (await this.#fillNew())) return;
    const script = this.#tables.map((table) => table.fullScript(found?.get(table))).join("");
    this.#counts.full += 1;
    try {
      await this.#transactScript(script);
    } catch (error) {
      if (!isRefused(error)) throw error;
      this.#log.warn({ err: error }, "the tables can not be mended: they are made anew");
      await this.#transactScript(this.#tables.map((table) => table.recreateScript()).join(""));
    }
    for (const table of this.#tables) table.commitFull();
  }

  /**
   * Where no table is there yet and many elements are wanted: tables that no packet meets, then all elements,
   * in half the time that nft takes to read them as text, then all rules at one moment. Chains that are met
   * before there are elements would have flows tracked, and never looked at again.
   * @returns false where that could not be done: then all is to be written as text
   */
  async #fillNew(): Promise<boolean> {
    const count = this.#tables.reduce((sum, { leastElements }) => sum + leastElements, 0);
    if (count < MANY_ELEMENTS) return false;
    const fillings = this.#tables.map((table) => ({ table, filling: fillingOf(table) }));
    const messages = fillings.flatMap(({ filling }) => filling?.messages ?? []);
    if (fillings.some(({ filling }) => filling === undefined)) return false;
    try {
      const unmet = fillings.map(({ table, filling }) => table.unmetScript(filling?.others ?? []));
      await this.#transactScript(unmet.join(""));
      const outcome = await this.#transact(() => this.#elements.run(messages));
      if (outcome.kind !== "applied") throw outcome.error;
      await this.#transactScript(this.#tables.map((table) => table.meetingScript()).join(""));
    } catch (error) {
      this.#log.warn(
        { err: error },
        "the tables could not be filled by netlink: nft is told all of it",
      );
      return false;
    }
    this.#counts.full += 1;
    for (const table of this.#tables) table.commitFull();
    return true;
  }

  #transactScript(script: string): Promise<TransactionOutcome> {
    return this.#transact(async () => {
      await this.#nft.run(script);
      return APPLIED;
    });
  }

  /** Each transaction makes one generation: where it is not the next one, others were there too. */
  async #transact(run: () => Promise<TransactionOutcome>): Promise<TransactionOutcome> {
    const before = await this.#generation.read();
    if (before !== this.#trusted) this.#trusted = undefined;
    const outcome = await run();
    if (outcome.kind !== "applied") return outcome;
    this.#counts.transactions += 1;
    if (this.#trusted !== undefined) this.#trusted += 1;
    return outcome;
  }

  #commit(): void {
    for (const table of this.#tables) table.commit();
  }

  /** Undefined as generation where others changed rules in the meantime. */
  async #list(): Promise<{ listings: Listings; generation: number | undefined }> {
    const before = await this.#generation.read();
    const listings = new Map<TablePlanner, NftListing>();
    for (const table of this.#tables) {
      const listing = await listTable(table.table, { nft: this.#nft, elements: this.#elements });
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
