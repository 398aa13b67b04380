import { entryText, type IpSetEntry } from "../../../wire/netlink/ipset/ip-set.ts";
import {
  type Destination,
  destinationId,
  serverId,
  type VirtualServer,
} from "../../../wire/netlink/ipvs/virtual-server.ts";
import type { SetKey } from "../glue/set-names.ts";
import type { Claimant, Verb } from "../handlers/claimant.ts";

/** What the kernel holds: virtual servers, real ones, entries of sets, addresses. */
export type ItemKind = "server" | "backing" | "member" | "address";

/** Some of it, by key. */
export type ItemKeys = Readonly<Record<ItemKind, ReadonlySet<string>>>;

/** One of it, by kind and key. */
export interface ItemId {
  readonly kind: ItemKind;
  readonly key: string;
}

/** Unique among all items. */
export function itemText({ kind, key }: ItemId): string {
  return `${kind} ${key}`;
}

export function backingKey(server: VirtualServer, destination: Destination): string {
  return `${serverId(server)} ${destinationId(destination)}`;
}

/** What an entry carries beside itself does not make it another one. */
export function memberKey(set: SetKey, { mark: _, isException: __, ...entry }: IpSetEntry): string {
  return `${set} ${entryText(entry)}`;
}

/** Writes down what is claimed or released in place of doing so. */
export class ItemRecorder implements Claimant {
  readonly keys: Readonly<Record<ItemKind, Set<string>>> = {
    server: new Set(),
    backing: new Set(),
    member: new Set(),
    address: new Set(),
  };
  readonly #claimant: Pick<Claimant, "marksOf">;

  constructor(claimant: Pick<Claimant, "marksOf">) {
    this.#claimant = claimant;
  }

  marksOf(mark: number): readonly number[] {
    return this.#claimant.marksOf(mark);
  }

  add({ kind, key }: ItemId): void {
    this.keys[kind].add(key);
  }

  /** All of them, each as `itemText` has it. */
  texts(): readonly string[] {
    const kinds = ["server", "backing", "member", "address"] as const;
    return kinds.flatMap((kind) => [...this.keys[kind]].map((key) => itemText({ kind, key })));
  }

  server(_: Verb, server: VirtualServer): void {
    this.keys.server.add(serverId(server));
  }

  lingering(_: Verb, server: VirtualServer): void {
    this.keys.server.add(serverId(server));
  }

  /** With its virtual server, which has to be there before it. */
  destination(_: Verb, server: VirtualServer, destination: Destination): void {
    this.keys.server.add(serverId(server));
    this.keys.backing.add(backingKey(server, destination));
  }

  address(verb: Verb, ip: string): void {
    this.keys.address.add(ip);
    this.entry(verb, "addresses", { ip });
  }

  entry(_: Verb, set: SetKey, entry: IpSetEntry): void {
    this.keys.member.add(memberKey(set, entry));
  }
}
