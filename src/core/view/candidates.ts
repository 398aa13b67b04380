import { type Family, familyOf } from "../model/address.ts";
import {
  type Endpoint,
  resolveTargetPort,
  supersedes,
  type TopologyHints,
} from "../model/endpoint.ts";
import { groupKeyOf } from "../model/object.ts";
import type { ServicePort } from "../model/service.ts";
import { isSocketPath } from "../model/socket-path.ts";

/** What holds for one port and family of a service on every node. */
export interface Candidates {
  /** For each endpoint the port on which it serves; 0 where it can not be used. */
  readonly targets: readonly number[];
  readonly hasReady: boolean;
  /** Whether any endpoint can be used anywhere: ready, or still serving while it ends. */
  readonly hasAny: boolean;
  /** The nodes that hints name; undefined unless every ready endpoint has such a hint. */
  readonly hintedNodes: ReadonlySet<string> | undefined;
  readonly hintedZones: ReadonlySet<string> | undefined;
}

/** The endpoints that can serve `port` in `family`, whatever the node; undefined where there are none. */
export function candidatesFor(
  endpoints: readonly Endpoint[],
  port: ServicePort,
  family: Family,
): Candidates | undefined {
  const targets: number[] = [];
  let isServed = false;
  for (const endpoint of endpoints) {
    const target =
      addressIn(endpoint, family) === undefined ? 0 : (resolveTargetPort(endpoint, port) ?? 0);
    if (target !== 0) isServed = true;
    targets.push(target);
  }
  if (!isServed) return undefined;
  dropDuplicates(endpoints, targets, family);
  const ready: Endpoint[] = [];
  let hasServingTerminating = false;
  for (const [index, endpoint] of endpoints.entries()) {
    if (targets[index] === 0) continue;
    if (endpoint.ready) ready.push(endpoint);
    else if (isServingTerminating(endpoint)) hasServingTerminating = true;
  }
  const hasReady = ready.length > 0;
  return {
    targets,
    hasReady,
    hasAny: hasReady || hasServingTerminating,
    hintedNodes: namesHinted(ready, "nodes"),
    hintedZones: namesHinted(ready, "zones"),
  };
}

/** Its address of the family; a host name counts for all that are wanted of it until it is resolved. */
export function addressIn(endpoint: Endpoint, family: Family): string | undefined {
  for (const address of endpoint.addresses) if (familyOf(address) === family) return address;
  const { hostName, families } = endpoint;
  if (hostName === "") return undefined;
  return families.length === 0 || families.includes(family) ? hostName : undefined;
}

export function isServingTerminating(endpoint: Endpoint): boolean {
  return endpoint.serving && endpoint.terminating;
}

/**
 * Of two records of one address and port in a group, as slices have during a move, the one that stays
 * counts. Groups stand by themselves: a server may serve in several, by other hints or weights. The
 * same path on two nodes is two sockets.
 */
function dropDuplicates(endpoints: readonly Endpoint[], targets: number[], family: Family): void {
  if (!hasRepeatedAddress(endpoints, family)) return;
  const kept = new Map<string, number>();
  endpoints.forEach((endpoint, index) => {
    if (targets[index] === 0) return;
    const { hostName, node } = endpoint;
    const place = isSocketPath(hostName) ? `${hostName} ${node}` : addressIn(endpoint, family);
    const where = `${groupKeyOf(endpoint)} ${place} ${targets[index]}`;
    const at = kept.get(where);
    const other = at === undefined ? undefined : endpoints[at];
    const isKept = other === undefined || supersedes(endpoint, other);
    if (isKept) kept.set(where, index);
    if (at !== undefined) targets[isKept ? at : index] = 0;
  });
}

function hasRepeatedAddress(endpoints: readonly Endpoint[], family: Family): boolean {
  const seen = new Set<string>();
  for (const endpoint of endpoints) {
    const address = addressIn(endpoint, family);
    if (address === undefined) continue;
    if (seen.has(address)) return true;
    seen.add(address);
  }
  return false;
}

function namesHinted(
  ready: readonly Endpoint[],
  what: keyof TopologyHints,
): ReadonlySet<string> | undefined {
  if (ready.length === 0 || ready.some((endpoint) => endpoint.hints[what].length === 0)) {
    return undefined;
  }
  return new Set(ready.flatMap((endpoint) => endpoint.hints[what]));
}
