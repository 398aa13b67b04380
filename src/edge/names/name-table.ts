import { canonicalIp } from "../../core/model/address.ts";
import type { EdgeAddress } from "../../core/model/service.ts";
import type { NamedService } from "../table/name-meaning.ts";

/** Who knows which services there are. */
export interface NameTable {
  /** @param name in lower case, without a dot at the end */
  serviceNamed(name: string): NamedService | undefined;
  /** What an address of a service, or of an instance, is called; undefined where it is none that is known. */
  nameOfAddress(ip: string): string | undefined;
  /**
   * Has services of these names followed that run elsewhere.
   * @returns whether one of them is known here now; at the latest when the signal is aborted
   */
  findNamed(names: readonly string[], signal: AbortSignal): Promise<boolean>;
}

/** Who says which names there are, and when that changes. */
export interface NameSource {
  /** Services that serve, by their names in lower case. */
  names(): ReadonlyMap<string, NamedService>;
  /** @returns a function that ends it */
  onNames(listener: () => void): () => void;
}

/** Services that serve, by their names in lower case; the first that has a name keeps it. */
export function indexNames<S extends NamedService & { readonly names: readonly string[] }>(
  services: readonly S[],
): ReadonlyMap<string, S> {
  const index = new Map<string, S>();
  for (const service of services) {
    if (service.instances.length === 0) continue;
    for (const name of service.names.map((each) => each.toLowerCase())) {
      if (!index.has(name)) index.set(name, service);
    }
  }
  return index;
}

/**
 * The names of addresses: of those of a service with the policy, `rr.web`, of an instance's own with its number,
 * `2.web`. What has lost its names to others has none.
 * @param index as `indexNames` makes it
 */
export function indexAddresses(
  index: ReadonlyMap<string, NamedService>,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const add = (address: string, name: string): void => {
    const ip = canonicalIp(address);
    if (ip !== undefined && !names.has(ip)) names.set(ip, name);
  };
  const seen = new Set<NamedService>();
  for (const [name, service] of index) {
    // It may have several, and the first one is its own.
    if (seen.has(service)) continue;
    seen.add(service);
    for (const edge of service.addresses) add(edge.address, `${labelOf(edge)}.${name}`);
    for (const { number, addresses } of service.instances) {
      for (const address of addresses) add(address, `${number}.${name}`);
    }
  }
  return names;
}

function labelOf({ policy, instance }: EdgeAddress): string {
  if (policy === "instance") return String(instance);
  return policy === "closest" ? "closest" : "rr";
}
