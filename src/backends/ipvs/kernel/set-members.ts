import { deepEqual } from "../../../core/model/equal.ts";
import type { IpSetChange } from "../../../wire/netlink/ipset/encode-ipset.ts";
import type { IpSetEntry } from "../../../wire/netlink/ipset/ip-set.ts";
import { ClaimedItems } from "../../claimed-items.ts";
import type { FamilySets, SetKey } from "../glue/set-names.ts";
import type { Verb } from "../handlers/claimant.ts";
import { memberKey } from "./items.ts";
import type { Step } from "./step.ts";

/** An entry of a set. */
export interface Member {
  readonly set: SetKey;
  readonly entry: IpSetEntry;
}

/** The entries of sets that are claimed, and those that the kernel has. */
export class SetMembers {
  readonly #sets: FamilySets;
  readonly #items = new ClaimedItems<Member>(deepEqual, (key) => this.#barred.has(key));
  #barred: ReadonlySet<string> = new Set();

  constructor(sets: FamilySets) {
    this.#sets = sets;
  }

  tell(verb: Verb, set: SetKey, entry: IpSetEntry): void {
    const key = memberKey(set, entry);
    if (verb === "claim") this.#items.claim(key, { set, entry });
    else this.#items.release(key);
  }

  /**
   * Says what the kernel has.
   * @param others addresses that other links of this machine have, which are no service's alone
   */
  adopt(members: readonly Member[], others: readonly string[]): void {
    this.#barred = new Set(others.map((ip) => memberKey("addresses", { ip })));
    this.#items.adopt(members.map((member) => [memberKey(member.set, member.entry), member]));
  }

  /** All but `marksThatGo`. */
  removals(only?: ReadonlySet<string>): readonly Step<IpSetChange>[] {
    return this.#removals(({ set }) => set !== "inside", only);
  }

  /** Marks of insiders. While a virtual server has one, the entry says whose it is: it goes after it. */
  marksThatGo(only?: ReadonlySet<string>): readonly Step<IpSetChange>[] {
    return this.#removals(({ set }) => set === "inside", only);
  }

  additions(only?: ReadonlySet<string>): readonly Step<IpSetChange>[] {
    return this.#items.changes(only).set.map(([key, member]) => this.#step(key, "add", member));
  }

  #removals(
    isMeant: (member: Member) => boolean,
    only: ReadonlySet<string> | undefined,
  ): readonly Step<IpSetChange>[] {
    return this.#items.changes(only).removed.flatMap((key) => {
      const member = this.#items.applied(key);
      return member === undefined || !isMeant(member) ? [] : [this.#step(key, "delete", member)];
    });
  }

  #step(key: string, kind: "add" | "delete", { set, entry }: Member): Step<IpSetChange> {
    return {
      item: { kind: "member", key },
      change: { kind, set: this.#sets[set], entry },
      done: () => this.#items.accept(key),
    };
  }
}
