import type { EdgeService } from "../table/service-table.ts";

export interface SettledClaims {
  /** No name and no address is that of two of them. */
  readonly services: readonly EdgeService[];
  /** What a service does not have, as another one does. */
  readonly lost: readonly string[];
}

/**
 * What two services claim is one's alone, and the other goes on without it: services come from many machines,
 * and one of them must not keep a node from all others. The same one has it on every node, in whatever order
 * they come: names are asked for in any case of letters, so those that are written in lower case come first.
 */
export function settleClaims(services: readonly EdgeService[]): SettledClaims {
  const owners = new Map<string, string>();
  const lost: string[] = [];
  const settled = [...services].sort(byRank).map((service) => {
    const has = (claim: string, what: string): boolean => {
      const owner = owners.get(claim) ?? service.key;
      owners.set(claim, owner);
      if (owner === service.key) return true;
      lost.push(`${service.key}: ${what} is the one of ${owner}`);
      return false;
    };
    const names = service.names.filter((name) => has(name.toLowerCase(), `name "${name}"`));
    const addresses = service.addresses.filter(({ address }) => has(address, address));
    const isWhole =
      names.length === service.names.length && addresses.length === service.addresses.length;
    return isWhole ? service : { ...service, names, addresses };
  });
  return { services: settled, lost };
}

function byRank({ key: a }: EdgeService, { key: b }: EdgeService): number {
  const [isFoldedA, isFoldedB] = [a !== a.toLowerCase(), b !== b.toLowerCase()];
  if (isFoldedA !== isFoldedB) return isFoldedA ? 1 : -1;
  return a < b ? -1 : 1;
}
