import { EMPTY } from "../../../core/model/common.ts";
import { deepEqual } from "../../../core/model/equal.ts";
import type { NftListing } from "../../../platform/linux/nft/parse-listing.ts";
import {
  type NftChain,
  type NftElement,
  type NftTable,
  TableScript,
} from "../../../platform/linux/nft/table-script.ts";
import { ClaimedItems } from "../../claimed-items.ts";
import { baseChains } from "./base-chains.ts";
import { ChainFactory } from "./chains.ts";
import { compileFrontend, NO_SLOTS, type Slots } from "./compile-frontend.ts";
import { containersOf, FILLED_BY_KERNEL, NAMES } from "./containers.ts";
import type { Frontend } from "./frontend.ts";
import { type ElementChanges, FrontendTable } from "./frontend-table.ts";
import { slotsIn } from "./listed-slots.ts";
import { mendTable, type TableMend } from "./mend-table.ts";
import type { TableFacts } from "./table-facts.ts";

export const TABLE_NAME = "portolan";
const TABLE_COMMENT = "services of this node; written by portolan, changes by hand are undone";

/** What a service or listener wants of a table. */
export interface Wanted {
  readonly frontends: readonly Frontend[];
  readonly clusterIPs: readonly string[];
  /** Addresses of its endpoints on this node. */
  readonly hairpins: readonly string[];
}

export const NOTHING_WANTED: Wanted = { frontends: EMPTY, clusterIPs: EMPTY, hairpins: EMPTY };

export interface TableCounts {
  readonly frontends: number;
  readonly slots: number;
  readonly chains: number;
}

/**
 * What one table should hold, and by which commands the kernel gets there. What the kernel holds is
 * taken to be what was last committed.
 */
export class TablePlanner {
  readonly table: NftTable;
  #facts: TableFacts;
  #factory: ChainFactory;
  readonly #wanted = new Map<string, Wanted>();
  readonly #frontends = new FrontendTable();
  readonly #chains = new ClaimedItems<NftChain>(isSameChain);
  readonly #members = new ClaimedItems<NftElement>(() => true);
  /** Chains that nobody needs any more; some kernels delete them only in a later transaction. */
  readonly #stale = new Set<string>();
  #seeds: ReadonlyMap<string, Slots> = new Map();
  /** How what was found in the kernel differs, until it is put right. */
  #mend: TableMend | undefined;

  constructor(facts: TableFacts, name: string = TABLE_NAME) {
    this.table = { family: facts.nft, name };
    this.#facts = facts;
    this.#factory = new ChainFactory(facts);
    for (const chain of baseChains(facts)) this.#chains.claim(chain.name, chain);
  }

  get facts(): TableFacts {
    return this.#facts;
  }

  counts(): TableCounts {
    const { size, slots } = this.#frontends;
    return { frontends: size, slots, chains: this.#chains.size };
  }

  /** @returns whether they are others: then all that is wanted has to be said again */
  setFacts(facts: TableFacts): boolean {
    if (deepEqual(facts, this.#facts)) return false;
    for (const { name } of baseChains(this.#facts)) this.#chains.release(name);
    for (const chain of baseChains(facts)) this.#chains.claim(chain.name, chain);
    this.#facts = facts;
    this.#factory = new ChainFactory(facts);
    return true;
  }

  /** Says all that a claimant wants from now on. */
  replace(claimant: string, wanted: Wanted): void {
    const before = this.#wanted.get(claimant) ?? NOTHING_WANTED;
    for (const element of membersOf(wanted)) this.#members.claim(idOf(element), element);
    for (const element of membersOf(before)) this.#members.release(idOf(element));
    this.#frontends.replace(claimant, wanted.frontends);
    if (wanted === NOTHING_WANTED) this.#wanted.delete(claimant);
    else this.#wanted.set(claimant, wanted);
  }

  /** To be called once all is said, before it is asked what to do. */
  settle(): void {
    const recompiled = this.#frontends.compile((frontend, before) => {
      const slots = before?.slots ?? this.#seeds.get(frontend.key) ?? NO_SLOTS;
      return compileFrontend(frontend, slots, this.#factory, this.#facts);
    });
    for (const { now } of recompiled) {
      for (const chain of now?.chains ?? EMPTY) this.#chains.claim(chain.name, chain);
    }
    for (const { before } of recompiled) {
      for (const chain of before?.chains ?? EMPTY) this.#chains.release(chain.name);
    }
  }

  /** Takes the slots that the kernel has, so that endpoints stay where they are. */
  seedSlots(listing: NftListing): void {
    this.#seeds = slotsIn(listing);
  }

  /** What a table that holds this needs. */
  mendFor(listing: NftListing): TableMend {
    const containers = containersOf(this.#facts.family);
    const wanted = { containers, chains: () => this.chains(), elements: () => this.elements() };
    return mendTable(wanted, listing);
  }

  /** What is to be done is this, up to the next commit, whatever was committed before. */
  adopt(mend: TableMend): void {
    this.#mend = mend;
  }

  /** What changed, where that is elements alone; undefined where chains come, change or go too. */
  elementChanges(): ElementChanges | undefined {
    const hasChains = this.#changedChains().length > 0 || this.#goingChains().length > 0;
    return hasChains ? undefined : this.#elementChanges();
  }

  /** The commands for what changed; empty where nothing did. */
  changesScript(): string {
    const script = new TableScript(this.table);
    const chains = this.#changedChains();
    const elements = this.#elementChanges();
    for (const chain of chains) script.addChain(chain);
    script.deleteElements(elements.removed);
    for (const chain of chains) {
      script.flushChain(chain.name);
      script.addRules(chain);
    }
    script.addElements(elements.added);
    const going = this.#goingChains();
    for (const name of going) script.flushChain(name);
    for (const name of going) script.deleteChain(name);
    return script.text();
  }

  #changedChains(): readonly NftChain[] {
    return this.#mend?.chains ?? this.#chains.changes().set.map(([, chain]) => chain);
  }

  #elementChanges(): ElementChanges {
    if (this.#mend !== undefined) return this.#mend.elements;
    const members = this.#members.changes();
    const elements = this.#frontends.changes();
    return {
      removed: [...elements.removed, ...members.removed.map(elementOf)],
      added: [...elements.added, ...members.set.map(([, element]) => element)],
    };
  }

  #goingChains(): readonly string[] {
    return [...this.#stale].filter((name) => !this.#chains.has(name));
  }

  /** The commands that make all of it so, whatever is there, at one moment. */
  fullScript(listing: NftListing | undefined): string {
    const script = new TableScript(this.table);
    const containers = containersOf(this.#facts.family);
    const chains = [...this.#chains.all()].map(([, chain]) => chain);
    const foreign = this.#foreignChains(listing);
    script.addTable(TABLE_COMMENT);
    for (const container of containers) script.addContainer(container);
    for (const chain of [...chains, ...foreign]) script.addChain(chain);
    for (const container of containers) {
      if (container.name !== FILLED_BY_KERNEL) script.flushContainer(container);
    }
    for (const { name } of [...chains, ...foreign]) script.flushChain(name);
    for (const chain of chains) script.addRules(chain);
    script.addElements(this.elements());
    for (const { name } of foreign) script.deleteChain(name);
    return script.text();
  }

  /** For a kernel that has no such table: all of it, but with these elements only, and nothing that packets meet. */
  unmetScript(elements: Iterable<NftElement>): string {
    const script = new TableScript(this.table);
    script.addTable(TABLE_COMMENT);
    for (const container of containersOf(this.#facts.family)) script.addContainer(container);
    for (const chain of this.chains()) if (chain.hook === undefined) script.addChain(chain);
    script.addElements(elements);
    return script.text();
  }

  /** What then is missing: the rules, and the chains that packets meet. */
  meetingScript(): string {
    const script = new TableScript(this.table);
    const chains = [...this.chains()];
    for (const chain of chains) if (chain.hook !== undefined) script.addChain(chain);
    for (const chain of chains) script.addRules(chain);
    return script.text();
  }

  /** How many elements there should be, at least. */
  get leastElements(): number {
    return this.#frontends.size + this.#members.size;
  }

  /** Those that may be there and should not. They are added before they go: perhaps they are not there. */
  #foreignChains(listing: NftListing | undefined): readonly NftChain[] {
    const names = new Set([
      ...(listing?.chains.keys() ?? []),
      ...this.#stale,
      ...this.#chains.changes().removed,
    ]);
    return [...names]
      .filter((name) => !this.#chains.has(name))
      .map((name) => ({ name, comment: "", rules: [] }));
  }

  /** The same for a table that can not be mended; forgets what the kernel remembers of clients. */
  recreateScript(): string {
    const script = new TableScript(this.table);
    script.addTable(TABLE_COMMENT);
    script.deleteTable();
    return script.text() + this.fullScript(undefined);
  }

  /** All elements that should be there. */
  *elements(): Generator<NftElement> {
    yield* this.#frontends.elements();
    for (const [, element] of this.#members.all()) yield element;
  }

  *chains(): Generator<NftChain> {
    for (const [, chain] of this.#chains.all()) yield chain;
  }

  /** Says that the kernel holds these, which nobody needs: they go with the next change. */
  retire(chains: readonly string[]): void {
    this.#chains.markApplied(chains.map((name) => [name, { name, comment: "", rules: EMPTY }]));
  }

  /** The kernel holds now what it should. */
  commit(): void {
    this.#stale.clear();
    for (const name of this.#chains.changes().removed) this.#stale.add(name);
    this.#chains.commit();
    this.#members.commit();
    this.#frontends.commit();
    this.#seeds = new Map();
    this.#mend = undefined;
  }

  /** After a full transaction nothing else is left in the table. */
  commitFull(): void {
    this.commit();
    this.#stale.clear();
  }
}

function* membersOf({ clusterIPs, hairpins }: Wanted): Generator<NftElement> {
  for (const key of clusterIPs) yield { container: NAMES.clusterIPs, key };
  for (const ip of hairpins) yield { container: NAMES.hairpins, key: `${ip} . ${ip}` };
}

function idOf({ container, key }: NftElement): string {
  return `${container} ${key}`;
}

function elementOf(id: string): NftElement {
  const space = id.indexOf(" ");
  return { container: id.slice(0, space), key: id.slice(space + 1) };
}

function isSameChain(a: NftChain, b: NftChain): boolean {
  return a === b || deepEqual(a, b);
}
