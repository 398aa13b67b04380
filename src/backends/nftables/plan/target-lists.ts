import { type Family, familyOf } from "../../../core/model/address.ts";
import { EMPTY } from "../../../core/model/common.ts";
import { type GroupRef, groupsOf, type ServicePort } from "../../../core/model/service.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import type { NodeEndpoint } from "../../../core/view/ops.ts";
import type { Target, TargetList } from "./frontend.ts";
import { type Weighted, weightSlots } from "./weight-slots.ts";

/** The lists of one port of a service in one family, each worked out when it is asked for. */
export class PortLists {
  readonly #item: ServiceEndpoints;
  readonly #port: ServicePort;
  readonly #family: Family;
  readonly #groups: readonly GroupRef[];
  readonly #isUsable: boolean;
  #cluster: TargetList | undefined;
  #local: TargetList | undefined;

  /** @param index of the port in the service */
  constructor(item: ServiceEndpoints, port: ServicePort, index: number, family: Family) {
    this.#item = item;
    this.#port = port;
    this.#family = family;
    this.#groups = groupsOf(item.service.service);
    this.#isUsable = item.service.usable[index]?.includes(family) === true;
  }

  get cluster(): TargetList {
    this.#cluster ??= this.#list("clusterFor");
    return this.#cluster;
  }

  get local(): TargetList {
    this.#local ??= this.#list("localFor");
    return this.#local;
  }

  #list(scope: "clusterFor" | "localFor"): TargetList {
    const weighted: Weighted<Target>[] = [];
    let isListed = false;
    for (const endpoint of this.#item.endpoints) {
      for (const own of endpoint.ports) {
        if (own.name !== this.#port.name || !own[scope].includes(this.#family)) continue;
        isListed = true;
        const one = this.#weighted(endpoint, own.target);
        if (one !== undefined) weighted.push(one);
      }
    }
    // None here, while there are some elsewhere, may be put right by who sent the packet here.
    const whenEmpty = !isListed && this.#isUsable ? "drop" : "refuse";
    return { slots: weighted.length === 0 ? NO_SLOTS : weightSlots(weighted), whenEmpty };
  }

  /** Undefined where it takes no new connections: it drains, or it has no address but a name. */
  #weighted({ endpoint, group }: NodeEndpoint, target: number): Weighted<Target> | undefined {
    const { weight, addresses } = endpoint;
    const groupWeight = this.#groups.find((ref) => ref.group === group)?.weight ?? 1;
    const address = addresses.find((one) => familyOf(one) === this.#family);
    if (address === undefined || weight === 0 || groupWeight === 0) return undefined;
    return { item: `${address} . ${target}`, group, groupWeight, weight };
  }
}

const NO_SLOTS: ReadonlyMap<Target, number> = new Map(EMPTY);
