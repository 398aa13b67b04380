import type { NamedService } from "../table/name-meaning.ts";

/** Who knows which services there are. */
export interface NameTable {
  /** @param name in lower case, without a dot at the end */
  serviceNamed(name: string): NamedService | undefined;
  /**
   * Has services of these names followed that run elsewhere.
   * @returns whether one of them is known here now; at the latest when the signal is aborted
   */
  findNamed(names: readonly string[], signal: AbortSignal): Promise<boolean>;
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
