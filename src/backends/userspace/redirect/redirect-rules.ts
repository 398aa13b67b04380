import { CoreError } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { FAMILIES, type Family } from "../../../core/model/address.ts";
import { isExists, isNotFound, type Nft } from "../../../platform/linux/nft/nft.ts";
import type { NftListing } from "../../../platform/linux/nft/parse-listing.ts";
import {
  changesScript,
  fullScript,
  identityOf,
  type RedirectElements,
  redirectTable,
  removalScript,
} from "./redirect-table.ts";

/** Tells whether anybody changed rules. */
export interface RuleGeneration {
  read(): Promise<number>;
}

export interface RedirectRulesOptions {
  readonly nft: Nft;
  readonly generation: RuleGeneration;
  readonly log: Log;
}

/** The lines of chains, as the kernel tells them. */
type ChainLines = ReadonlyMap<Family, string>;

/** The tables of the kernel that lead calls to the proxy. Calls must not overlap. */
export class RedirectRules {
  readonly #nft: Nft;
  readonly #generation: RuleGeneration;
  readonly #log: Log;
  /** What the kernel holds; undefined where that is not known: then all is written anew. */
  #written: RedirectElements | undefined;
  /** As they were right after they had been written. */
  #chains: ChainLines = new Map();
  /** The generation up to which what was written is known to be there. */
  #trusted: number | undefined;

  constructor({ nft, generation, log }: RedirectRulesOptions) {
    this.#nft = nft;
    this.#generation = generation;
    this.#log = log;
  }

  /** One transaction of what changed. @throws CoreError ERR_PROGRAM_FAILED; the next call repairs */
  async apply(elements: RedirectElements): Promise<void> {
    const before = this.#written;
    if (before === undefined) return this.#writeAll(elements);
    const script = FAMILIES.map((family) => changesScript(family, before, elements)).join("");
    if (script === "") return;
    this.#written = undefined;
    this.#trusted = undefined;
    try {
      await this.#nft.run(script);
    } catch (error) {
      if (!isExists(error) && !isNotFound(error)) throw error;
      this.#log.warn({ err: error }, "others changed the redirect's rules: they are written anew");
      return this.#writeAll(elements);
    }
    this.#written = elements;
  }

  /** Looks for what others changed, where anything did, and puts it right. */
  async check(): Promise<void> {
    const written = this.#written;
    if (written === undefined) return;
    const generation = await this.#generation.read();
    if (generation === this.#trusted) return;
    for (const family of FAMILIES) {
      const listing = await this.#nft.list(redirectTable(family));
      if (listing !== undefined && this.#isRight(family, listing, written)) continue;
      this.#log.warn({ family }, "others changed the redirect's rules: they are written anew");
      return this.#writeAll(written);
    }
    this.#trusted = generation;
  }

  /** Removes everything; succeeds where nothing is left. */
  async remove(): Promise<void> {
    this.#written = undefined;
    try {
      await this.#nft.run(FAMILIES.map(removalScript).join(""));
    } catch (error) {
      // Without the program nothing was ever written.
      if (!(error instanceof CoreError) || error.code !== "ERR_NOT_POSSIBLE_HERE") throw error;
    }
  }

  async #writeAll(elements: RedirectElements): Promise<void> {
    this.#written = undefined;
    this.#trusted = undefined;
    await this.#nft.run(FAMILIES.map((family) => fullScript(family, elements)).join(""));
    const chains = new Map<Family, string>();
    for (const family of FAMILIES) {
      const listing = await this.#nft.list(redirectTable(family));
      chains.set(family, linesOf(listing));
    }
    this.#chains = chains;
    this.#written = elements;
  }

  #isRight(family: Family, listing: NftListing, { [family]: elements }: RedirectElements): boolean {
    if (listing.flags.length > 0) return false;
    if (linesOf(listing) !== this.#chains.get(family)) return false;
    const listed = [...listing.containers].flatMap(([container, { elements: texts }]) =>
      texts.map((text) => `${container} ${text}`),
    );
    const wanted = new Set(elements.map(identityOf));
    return listed.length === wanted.size && listed.every((text) => wanted.has(text));
  }
}

function linesOf(listing: NftListing | undefined): string {
  if (listing === undefined) return "";
  return [...listing.chains].map(([name, { lines }]) => [name, ...lines].join("\n")).join("\n");
}
