import { CoreError } from "../../core/errors.ts";
import { FAMILIES } from "../../core/model/address.ts";
import { KINDS, type ModelObject } from "../../core/model/object.ts";
import type { EdgePolicy } from "../../core/model/service.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import { bitsOf, ipOfNumber, overlap, parseSpan, type Span } from "./address-number.ts";
import { type AddressPlan, checkAddressPlan } from "./address-plan.ts";
import { BlockPool } from "./block-pool.ts";

/** Addresses that are set aside until what has them is written; then the state itself holds them. */
export interface Reservation {
  /**
   * A network of each family that the plan has: of those that are wanted where they are free, else the next.
   * @throws CoreError ERR_EXHAUSTED
   */
  subnets(wanted?: readonly string[]): readonly string[];
  /** An address of each family that the plan has. @throws CoreError ERR_EXHAUSTED */
  serviceAddresses(policy: EdgePolicy): readonly string[];
  /** Ends it: what was not written is free again. */
  release(): void;
}

/**
 * Which addresses of the plan are free. It holds nothing of its own: all is read from the state, whichever source
 * said it, so that it is the same after a restart, and what goes from the state is free.
 */
export class AddressBook {
  readonly #nodePools: readonly BlockPool[];
  readonly #pools: readonly BlockPool[];
  readonly #servicePools: ReadonlyMap<string, BlockPool>;
  readonly #plan: AddressPlan;

  /** @throws CoreError ERR_CONFIG_INVALID */
  constructor(plan: AddressPlan) {
    checkAddressPlan(plan);
    this.#plan = plan;
    const { reserved, nodePrefix } = plan;
    this.#nodePools = plan.nodes.map(
      (range) => new BlockPool({ range, prefix: nodePrefix[parseSpan(range).family], reserved }),
    );
    const ranges = new Set(Object.values(plan.services).flat());
    this.#servicePools = new Map([...ranges].map((range) => [range, servicePool(range, reserved)]));
    this.#pools = [...this.#nodePools, ...this.#servicePools.values()];
  }

  /** Reads the state and every change of it, until the result is called. */
  follow(store: GlobalStore): () => void {
    for (const kind of KINDS) for (const object of store.objects(kind)) this.#claim(object);
    return store.onCommit(({ changes }) => {
      for (const { before, after } of changes) {
        if (before !== undefined) this.#release(before);
        if (after !== undefined) this.#claim(after);
      }
    });
  }

  /** Whether something of the state has the address, or a network around it. */
  isClaimed(ip: string): boolean {
    const span = parseSpan(ip);
    return this.#pools.some((pool) => pool.isClaimed(span));
  }

  /** Whether services may have it. */
  isServiceAddress(ip: string, policy: EdgePolicy): boolean {
    const span = parseSpan(ip);
    return this.#plan.services[policy].some((range) => overlap(parseSpan(range), span));
  }

  reserve(): Reservation {
    const taken: { readonly pool: BlockPool; readonly block: string }[] = [];
    const take = (
      what: string,
      pools: readonly BlockPool[],
      wanted: readonly Span[] = [],
    ): readonly string[] =>
      FAMILIES.flatMap((family) => {
        const ofFamily = pools.filter(({ range }) => range.family === family);
        if (ofFamily.length === 0) return [];
        const takers = [
          ...ofFamily.map((pool) => ({ pool, take: () => takeWanted(pool, wanted) })),
          ...ofFamily.map((pool) => ({ pool, take: () => pool.take() })),
        ];
        for (const { pool, take } of takers) {
          const block = take();
          if (block === undefined) continue;
          taken.push({ pool, block });
          return [block];
        }
        throw exhausted(what, ofFamily);
      });
    return {
      subnets: (wanted = []) => take("network for a node", this.#nodePools, wanted.map(parseSpan)),
      serviceAddresses: (policy) => {
        const pools = this.#plan.services[policy].flatMap(
          (range) => this.#servicePools.get(range) ?? [],
        );
        return take(`service address of policy ${policy}`, pools).map(withoutPrefix);
      },
      release: () => {
        for (const { pool, block } of taken.splice(0)) pool.release(parseSpan(block));
      },
    };
  }

  #claim(object: ModelObject): void {
    for (const network of spansOf(object)) {
      for (const pool of this.#pools) pool.claim(network);
    }
  }

  #release(object: ModelObject): void {
    for (const network of spansOf(object)) {
      for (const pool of this.#pools) pool.release(network);
    }
  }
}

/**
 * The first and the last address of a range are no service's: to some they mean the network, or all in it. The one
 * before the last of IPv4 stands for local clients before local servers on nodes.
 */
function servicePool(range: string, reserved: readonly string[]): BlockPool {
  const { family, first, last } = parseSpan(range);
  const ends = [first, last, ...(family === "v4" && last - first > 1n ? [last - 1n] : [])].map(
    (number) => ipOfNumber(number, family),
  );
  return new BlockPool({ range, prefix: bitsOf(family), reserved: [...reserved, ...ends] });
}

function takeWanted(pool: BlockPool, wanted: readonly Span[]): string | undefined {
  return wanted.find((block) => pool.takeThis(block))?.cidr.text;
}

function withoutPrefix(network: string): string {
  return network.slice(0, network.indexOf("/"));
}

/** All that an object says of addresses: also what a source that knows no overlay says. */
function spansOf(object: ModelObject): readonly Span[] {
  return networksOf(object).map(parseSpan);
}

function networksOf(object: ModelObject): readonly string[] {
  switch (object.kind) {
    case "Service": {
      const { clusterIPs, externalIPs, loadBalancerIPs, edgeIPs } = object;
      const edge = edgeIPs.map(({ address }) => address);
      return [...clusterIPs, ...externalIPs, ...loadBalancerIPs, ...edge];
    }
    case "Endpoint":
      return object.addresses;
    case "Node":
      return [...object.addresses, ...object.subnets];
    default:
      return [];
  }
}

function exhausted(what: string, pools: readonly BlockPool[]): CoreError {
  const ranges = pools.map(({ range }) => range.text).join(", ");
  return new CoreError(
    "ERR_EXHAUSTED",
    `there is no ${what} left in ${ranges}; expected a wider range, or something to go first`,
  );
}
