import type { IpSetEntry } from "../../../wire/netlink/ipset/ip-set.ts";
import type { Destination, VirtualServer } from "../../../wire/netlink/ipvs/virtual-server.ts";
import type { SetKey } from "../glue/set-names.ts";

/** To say that something is needed, or no longer. What several need is there while one of them does. */
export type Verb = "claim" | "release";

/** What handlers tell of what they need. Nothing is done at once. */
export interface Claimant {
  server(verb: Verb, server: VirtualServer): void;
  /** A virtual server that takes no new connections, and stays only where it has some left. */
  lingering(verb: Verb, server: VirtualServer): void;
  destination(verb: Verb, server: VirtualServer, destination: Destination): void;
  /** An address that this machine is to have, unless another link of it has it. */
  address(verb: Verb, ip: string): void;
  entry(verb: Verb, set: SetKey, entry: IpSetEntry): void;
  /** The mark of insiders, and the same once the packet is to be masqueraded. */
  marksOf(mark: number): readonly number[];
}
