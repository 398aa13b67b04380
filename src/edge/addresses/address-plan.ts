import { CoreError } from "../../core/errors.ts";
import { addressAt, type NodeSubnets, placeOf, sizeOf } from "./subnet.ts";

/** The addresses of one workload, or of the bridge. */
export interface AddressPair {
  readonly v4: string;
  readonly v6: string;
}

const BRIDGE_PLACE = 1;
/** No node has more workloads; a larger network has room to spare. */
const MAX_PLACES = 65_536;

/**
 * Who has which address of a node. A workload has the same place in both networks, so there is one
 * book to keep. Places are given out in turns: one that is free again waits until all others were
 * given, so that what is still under way to a workload that went does not meet the next one.
 */
export class AddressPlan {
  readonly subnets: NodeSubnets;
  readonly #taken = new Set<number>();
  readonly #end: number;
  #last = BRIDGE_PLACE;

  constructor(subnets: NodeSubnets) {
    this.subnets = subnets;
    // The last address of an IPv4 network is for broadcasts.
    this.#end = Math.min(sizeOf(subnets.v4) - 1, sizeOf(subnets.v6), MAX_PLACES);
  }

  get bridge(): AddressPair {
    return this.#pairAt(BRIDGE_PLACE);
  }

  /** For how many workloads there is room. */
  get capacity(): number {
    return Math.max(0, this.#end - BRIDGE_PLACE - 1);
  }

  get used(): number {
    return this.#taken.size;
  }

  /** @throws CoreError ERR_IN_USE where all are taken */
  allocate(): AddressPair {
    for (let step = 0; step < this.capacity; step++) {
      this.#last = this.#last + 1 < this.#end ? this.#last + 1 : BRIDGE_PLACE + 1;
      if (this.#taken.has(this.#last)) continue;
      this.#taken.add(this.#last);
      return this.#pairAt(this.#last);
    }
    const { v4 } = this.subnets;
    throw new CoreError(
      "ERR_IN_USE",
      `all ${this.capacity} addresses of ${v4.text} are in use; undeploy a workload, or register a larger subnetwork`,
    );
  }

  /** Takes the addresses that a workload has already; false where they are not to be had. */
  take({ v4, v6 }: AddressPair): boolean {
    const place = placeOf(this.subnets.v4, v4);
    if (place === undefined || place !== placeOf(this.subnets.v6, v6)) return false;
    if (place <= BRIDGE_PLACE || place >= this.#end || this.#taken.has(place)) return false;
    this.#taken.add(place);
    this.#last = Math.max(this.#last, place);
    return true;
  }

  /** What nobody has is free already. */
  free({ v4 }: AddressPair): void {
    const place = placeOf(this.subnets.v4, v4);
    if (place !== undefined) this.#taken.delete(place);
  }

  #pairAt(place: number): AddressPair {
    return { v4: addressAt(this.subnets.v4, place), v6: addressAt(this.subnets.v6, place) };
  }
}
