import type { Family } from "../core/model/address.ts";
import { familyOf } from "../core/model/address.ts";
import { groupsOf } from "../core/model/service.ts";
import type { ServiceEndpoints } from "../core/sinks/fullstate.ts";
import type { NodeEndpoint } from "../core/view/ops.ts";

/** Where a new connection may go, and how often. */
export interface Target {
  readonly ip: string;
  readonly port: number;
  /** Of all connections; those of a list sum to 1. */
  readonly share: number;
}

/** What becomes of connections to one list of endpoints: never without a target or a refusal. */
export type Outcome =
  | { readonly kind: "targets"; readonly targets: readonly Target[] }
  /** `reject`: nobody can serve; `drop`: nobody here, but others elsewhere. */
  | { readonly kind: "reject" | "drop" };

export interface PortOutcomes {
  readonly cluster: Outcome;
  readonly local: Outcome;
}

/** Where an endpoint serves. */
export type Place = Pick<Target, "ip" | "port">;

/** Those of a list that get no new connections, since their weight is 0, and keep what they have. */
export function restingPlaces(
  { service: { service }, endpoints }: ServiceEndpoints,
  portIndex: number,
  family: Family,
  list: "clusterFor" | "localFor",
): readonly Place[] {
  const name = service.ports[portIndex]?.name;
  const groups = groupsOf(service);
  const places: Place[] = [];
  for (const endpoint of endpoints) {
    const port = endpoint.ports.find((one) => one.name === name);
    const ip = addressIn(endpoint, family);
    if (port === undefined || ip === undefined || !port[list].includes(family)) continue;
    const groupWeight = groups.find(({ group }) => group === endpoint.group)?.weight ?? 0;
    if (groupWeight === 0 || endpoint.endpoint.weight === 0) places.push({ ip, port: port.target });
  }
  return places;
}

/** The two lists of one port in one family, by the rules of `core/route`. */
export function portOutcomes(
  entry: ServiceEndpoints,
  portIndex: number,
  family: Family,
): PortOutcomes {
  const isUsable = entry.service.usable[portIndex]?.includes(family) === true;
  let local: Outcome | undefined;
  return {
    cluster: outcomeOf(entry, portIndex, family, "clusterFor", isUsable),
    /** Most services have no Local policy, and nobody asks. */
    get local() {
      local ??= outcomeOf(entry, portIndex, family, "localFor", isUsable);
      return local;
    },
  };
}

function outcomeOf(
  { service: { service }, endpoints }: ServiceEndpoints,
  portIndex: number,
  family: Family,
  list: "clusterFor" | "localFor",
  isUsable: boolean,
): Outcome {
  const name = service.ports[portIndex]?.name;
  const groups = groupsOf(service);
  const eligible: Eligible[] = [];
  let isListed = false;
  for (const endpoint of endpoints) {
    const port = endpoint.ports.find((one) => one.name === name);
    if (port === undefined || !port[list].includes(family)) continue;
    isListed = true;
    const groupWeight = groups.find(({ group }) => group === endpoint.group)?.weight ?? 0;
    const ip = addressIn(endpoint, family);
    if (ip === undefined || groupWeight === 0 || endpoint.endpoint.weight === 0) continue;
    const { group } = endpoint;
    eligible.push({ ip, port: port.target, weight: endpoint.endpoint.weight, group, groupWeight });
  }
  if (eligible.length > 0) return { kind: "targets", targets: shareOut(eligible) };
  return { kind: !isListed && isUsable ? "drop" : "reject" };
}

/** A host name is nothing that a rule could hold. */
function addressIn({ endpoint }: NodeEndpoint, family: Family): string | undefined {
  return endpoint.addresses.find((address) => familyOf(address) === family);
}

interface Eligible {
  readonly ip: string;
  readonly port: number;
  readonly weight: number;
  readonly group: string;
  readonly groupWeight: number;
}

/** By the weights of the groups, and within a group by those of its endpoints. */
function shareOut(eligible: readonly Eligible[]): readonly Target[] {
  const weightIn = new Map<string, number>();
  let weightOfAll = 0;
  for (const { group, weight, groupWeight } of eligible) {
    if (!weightIn.has(group)) weightOfAll += groupWeight;
    weightIn.set(group, (weightIn.get(group) ?? 0) + weight);
  }
  const targets = new Map<string, Target>();
  for (const { ip, port, weight, group, groupWeight } of eligible) {
    const share = (groupWeight / weightOfAll) * (weight / (weightIn.get(group) ?? weight));
    const key = `${ip} ${port}`;
    // One server in two groups is one target with both shares.
    targets.set(key, { ip, port, share: share + (targets.get(key)?.share ?? 0) });
  }
  return [...targets.values()];
}
