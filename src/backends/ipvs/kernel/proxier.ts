import type { Family } from "../../../core/model/address.ts";
import type { IpSetEntry } from "../../../wire/netlink/ipset/ip-set.ts";
import type { Destination, VirtualServer } from "../../../wire/netlink/ipvs/virtual-server.ts";
import type { FamilySets, SetKey } from "../glue/set-names.ts";
import type { Claimant, Verb } from "../handlers/claimant.ts";
import type { ItemKeys } from "./items.ts";
import type { IpvsPlatform } from "./platform.ts";
import { readKernel } from "./read-kernel.ts";
import { ServiceAddresses } from "./service-addresses.ts";
import { type Member, SetMembers } from "./set-members.ts";
import { Steps, type Work } from "./step.ts";
import { VirtualServers } from "./virtual-servers.ts";

export interface ProxierOptions {
  readonly family: Family;
  readonly platform: IpvsPlatform;
  readonly sets: FamilySets;
  /** The mark of insiders, and the same once the packet is to be masqueraded. */
  marksOf(mark: number): readonly number[];
  /** Whether what is found at an address is of somebody else. */
  isForeign(ip: string): boolean;
}

export interface FlushOptions {
  /** Of these only; all when not given. */
  readonly only?: ItemKeys;
  /** Is done when all is there but the addresses, which let calls in. */
  readonly beforeAddresses?: (() => Promise<void>) | undefined;
}

/**
 * Makes the kernel hold what is claimed: virtual servers with their real ones, entries of sets, and
 * addresses. It knows nothing of services, and alone touches the platform. What the kernel refuses is
 * told again with the next flush.
 */
export class Proxier implements Claimant {
  readonly #options: ProxierOptions;
  readonly #servers: VirtualServers;
  readonly #members: SetMembers;
  readonly #addresses: ServiceAddresses;

  constructor(options: ProxierOptions) {
    const { platform, sets, isForeign } = options;
    this.#options = options;
    this.#servers = new VirtualServers(platform.ipvs, isForeign);
    this.#members = new SetMembers(sets);
    this.#addresses = new ServiceAddresses(isForeign);
  }

  server(verb: Verb, server: VirtualServer): void {
    this.#servers.server(verb, server);
  }

  lingering(verb: Verb, server: VirtualServer): void {
    this.#servers.lingering(verb, server);
  }

  destination(verb: Verb, server: VirtualServer, destination: Destination): void {
    this.#servers.destination(verb, server, destination);
  }

  address(verb: Verb, ip: string): void {
    this.#addresses.tell(verb, ip);
    this.entry(verb, "addresses", { ip });
  }

  entry(verb: Verb, set: SetKey, entry: IpSetEntry): void {
    this.#members.tell(verb, set, entry);
  }

  marksOf(mark: number): readonly number[] {
    return this.#options.marksOf(mark);
  }

  get counts(): VirtualServers["counts"] {
    return this.#servers.counts;
  }

  /** Looks at what the kernel holds; all that differs from what is claimed is put right by `flush`. */
  async read(): Promise<void> {
    const { family, platform, sets } = this.#options;
    const { servers, members, addresses } = await readKernel(platform, family, sets);
    this.#servers.adopt(servers, marksGivenBy(members));
    this.#members.adopt(members, addresses.others);
    this.#addresses.adopt(addresses);
  }

  /**
   * Tells the kernel all that changed, in an order in which no call is lost that could be served. What
   * is refused holds up nothing else.
   */
  async flush({ only, beforeAddresses }: FlushOptions = {}): Promise<Work> {
    const { ipvs, sets, link } = this.#options.platform;
    const steps = new Steps();
    await steps.take(this.#members.removals(only?.member), (changes) => sets.change(changes));
    await steps.take(this.#addresses.removals(only?.address), (changes) => link.change(changes));
    await steps.take(await this.#servers.steps(only), (changes) => ipvs.change(changes));
    await steps.take(this.#members.marksThatGo(only?.member), (changes) => sets.change(changes));
    await steps.take(this.#members.additions(only?.member), (changes) => sets.change(changes));
    await beforeAddresses?.();
    await steps.take(this.#addresses.additions(only?.address), (changes) => link.change(changes));
    return steps;
  }

  /** Removes those that were to go as soon as their last connection ended. */
  async finishDrains(): Promise<Work> {
    await this.#servers.finishDrains();
    return this.flush();
  }
}

function marksGivenBy(members: readonly Member[]): ReadonlySet<number> {
  return new Set(members.flatMap(({ entry }) => entry.mark ?? []));
}
