import {
  type DirectFrontend,
  MOST_FRONTENDS,
  MOST_SLOTS,
  type SlotList,
} from "../platform/linux/direct-connect/direct-plane.ts";
import type { DirectClaim, DirectEntry } from "./direct-entries.ts";
import { hasLost, isSameEntry, slotsOf } from "./direct-lists.ts";
import type { Place } from "./port-targets.ts";

/** What the maps hold for an address. */
interface Applied {
  readonly entry: DirectEntry;
  readonly frontend: DirectFrontend;
}

/** To be written in this order; whoever calls in between meets the old list, the new one, or the rules. */
export interface DirectChanges {
  readonly lists: readonly SlotList[];
  readonly frontends: readonly DirectFrontend[];
  readonly removedPlaces: readonly Place[];
  readonly removedLists: readonly DirectFrontend[];
}

/** How much the maps hold at most. */
export interface DirectRoom {
  readonly frontends: number;
  readonly slots: number;
}

const HIGHEST_LIST = 2 ** 32 - 1;
const WHOLE_ROOM: DirectRoom = { frontends: MOST_FRONTENDS, slots: MOST_SLOTS };

/**
 * What connections should be led to at once, and how that differs from what the maps hold. Only what is
 * replaced is looked at again; an address that two services claim is in no map.
 */
export class DirectPlan {
  readonly #room: DirectRoom;
  readonly #placesOf = new Map<string, readonly string[]>();
  /** By address, then by service. */
  readonly #claims = new Map<string, Map<string, DirectClaim>>();
  readonly #applied = new Map<string, Applied>();
  readonly #touched = new Set<string>();
  readonly #lists = new Set<number>();
  #slots = 0;
  #lastList = 0;
  #unfit = 0;

  constructor(room: DirectRoom = WHOLE_ROOM) {
    this.#room = room;
  }

  /** Addresses in the maps. */
  get size(): number {
    return this.#applied.size;
  }

  /** Addresses that there was no room for. */
  get unfit(): number {
    return this.#unfit;
  }

  /** All that should be in the maps, as far as there is room. */
  entries(): readonly DirectEntry[] {
    return [...this.#claims.keys()].flatMap((key) => this.#wanted(key) ?? []);
  }

  /** Says all that a service claims from now on. */
  replace(service: string, claims: readonly DirectClaim[]): void {
    for (const key of this.#placesOf.get(service) ?? []) this.#release(key, service);
    if (claims.length === 0) this.#placesOf.delete(service);
    else this.#placesOf.set(service, claims.map(keyOf));
    for (const claim of claims) this.#claim(keyOf(claim), service, claim);
  }

  /** What must not be met any more: those who are gone, and lists of which somebody is gone. */
  takeRetreats(): Pick<DirectChanges, "removedPlaces" | "removedLists"> {
    const removedPlaces: Place[] = [];
    const removedLists: DirectFrontend[] = [];
    for (const key of this.#touched) {
      const applied = this.#applied.get(key);
      if (applied === undefined || !hasLost(applied.entry, this.#wanted(key))) continue;
      removedPlaces.push(applied.entry.place);
      removedLists.push(applied.frontend);
      this.#drop(key);
    }
    return { removedPlaces, removedLists };
  }

  /** All that is left to do. Counts as done: where it is not, `forget`. */
  takeChanges(): DirectChanges {
    const retreats = this.takeRetreats();
    const removedPlaces = [...retreats.removedPlaces];
    const lists: SlotList[] = [];
    const frontends: DirectFrontend[] = [];
    const replaced: DirectFrontend[] = [];
    this.#unfit = 0;
    for (const key of [...this.#touched]) {
      const entry = this.#wanted(key);
      const before = this.#applied.get(key);
      if (entry === undefined || (before && isSameEntry(before.entry, entry))) {
        this.#touched.delete(key);
        continue;
      }
      // The old slots stay until nobody is led to them.
      if (before) replaced.push(before.frontend);
      if (!this.#hasRoom(entry, before)) {
        this.#unfit += 1;
        // Its old list is not what the rules would do any more.
        if (before) removedPlaces.push(before.entry.place);
        this.#applied.delete(key);
        continue;
      }
      const list = this.#put(key, entry);
      lists.push(list.slots);
      frontends.push(list.frontend);
    }
    for (const { list } of replaced) this.#lists.delete(list);
    for (const { slotCount } of replaced) this.#slots -= slotCount;
    return {
      lists,
      frontends,
      removedPlaces,
      removedLists: [...retreats.removedLists, ...replaced],
    };
  }

  /** The maps hold nothing any more, whatever they were told. */
  forget(): void {
    this.#applied.clear();
    this.#lists.clear();
    this.#slots = 0;
    this.#touched.clear();
    for (const key of this.#claims.keys()) this.#touched.add(key);
  }

  #claim(key: string, service: string, claim: DirectClaim): void {
    const claims = this.#claims.get(key) ?? new Map<string, DirectClaim>();
    // The cluster IP of a service that has it as an external one, too.
    if (claims.get(service)?.entry === undefined) claims.set(service, claim);
    this.#claims.set(key, claims);
    this.#touched.add(key);
  }

  #release(key: string, service: string): void {
    const claims = this.#claims.get(key);
    claims?.delete(service);
    if (claims?.size === 0) this.#claims.delete(key);
    // What is neither claimed nor led anywhere is nothing to come back to.
    if (this.#claims.has(key) || this.#applied.has(key)) this.#touched.add(key);
    else this.#touched.delete(key);
  }

  #wanted(key: string): DirectEntry | undefined {
    const claims = this.#claims.get(key);
    if (claims === undefined || claims.size > 1) return undefined;
    for (const { entry } of claims.values()) return entry;
    return undefined;
  }

  #hasRoom({ targets }: DirectEntry, before: Applied | undefined): boolean {
    const { frontends, slots } = this.#room;
    const isNew = before === undefined ? 1 : 0;
    return this.#applied.size + isNew <= frontends && this.#slots + targets.length <= slots;
  }

  #put(key: string, entry: DirectEntry): { slots: SlotList; frontend: DirectFrontend } {
    const id = this.#newList();
    const { place, targets } = entry;
    const frontend = { place, list: id, slotCount: targets.length };
    this.#applied.set(key, { entry, frontend });
    this.#slots += targets.length;
    this.#touched.delete(key);
    return { slots: { id, slots: slotsOf(targets) }, frontend };
  }

  #drop(key: string): void {
    const frontend = this.#applied.get(key)?.frontend;
    if (frontend === undefined) return;
    this.#applied.delete(key);
    this.#lists.delete(frontend.list);
    this.#slots -= frontend.slotCount;
  }

  #newList(): number {
    do this.#lastList = (this.#lastList % HIGHEST_LIST) + 1;
    while (this.#lists.has(this.#lastList));
    this.#lists.add(this.#lastList);
    return this.#lastList;
  }
}

function keyOf({ place: { ip, port } }: DirectClaim): string {
  return `${ip} ${port}`;
}
