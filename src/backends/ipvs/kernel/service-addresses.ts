import type { AddressChange, HostAddresses } from "../../../platform/linux/links/service-link.ts";
import { ClaimedItems } from "../../claimed-items.ts";
import type { Verb } from "../handlers/claimant.ts";
import type { Step } from "./step.ts";

/** The addresses of the link of services: those that are claimed, and those that it has. */
export class ServiceAddresses {
  /** What another link has is there, and is no service's alone: this link does not have it, too. */
  readonly #items = new ClaimedItems<string>(Object.is, (ip) => this.#others.has(ip));
  readonly #isForeign: (ip: string) => boolean;
  #others: ReadonlySet<string> = new Set();

  /** @param isForeign whether an address that the link has is of somebody else */
  constructor(isForeign: (ip: string) => boolean) {
    this.#isForeign = isForeign;
  }

  tell(verb: Verb, ip: string): void {
    if (verb === "claim") this.#items.claim(ip, ip);
    else this.#items.release(ip);
  }

  /** Says which the links of this machine have. */
  adopt({ own, others }: HostAddresses): void {
    this.#others = new Set(others);
    this.#items.adopt(own.filter((ip) => !this.#isForeign(ip)).map((ip) => [ip, ip]));
  }

  removals(only?: ReadonlySet<string>): readonly Step<AddressChange>[] {
    return this.#items.changes(only).removed.map((ip) => this.#step("delete", ip));
  }

  additions(only?: ReadonlySet<string>): readonly Step<AddressChange>[] {
    return this.#items.changes(only).set.map(([ip]) => this.#step("add", ip));
  }

  #step(kind: AddressChange["kind"], ip: string): Step<AddressChange> {
    return {
      item: { kind: "address", key: ip },
      change: { kind, ip },
      done: () => this.#items.accept(ip),
    };
  }
}
