import { type Family, familyOf } from "../../../core/model/address.ts";
import { EMPTY } from "../../../core/model/common.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import { destinationId } from "../../../wire/netlink/ipvs/virtual-server.ts";
import { type Outcome, type Place, type PortOutcomes, restingPlaces } from "../../port-targets.ts";
import { selfCallers } from "../../self-callers.ts";
import { integerWeights } from "./integer-weights.ts";
import type { EndpointInfo } from "./service-info.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The endpoints of one port of a service, in both of its lists, by address. */
export function endpointInfos(
  entry: ServiceEndpoints,
  portIndex: number,
  family: Family,
  outcomes: PortOutcomes,
): ReadonlyMap<string, EndpointInfo> {
  const protocol = entry.service.service.ports[portIndex]?.protocol ?? "TCP";
  const callers = selfCallers(entry);
  const infos = new Map<string, Writable<EndpointInfo>>();
  const infoAt = (ip: string, port: number): Writable<EndpointInfo> => {
    const id = destinationId({ ip, port });
    const known = infos.get(id);
    if (known !== undefined) return known;
    const base = { ip, port, protocol, mayCallItself: callers.has(ip) };
    const made = { ...base, clusterWeight: undefined, localWeight: undefined };
    infos.set(id, made);
    return made;
  };
  const lists = [
    ["clusterWeight", "clusterFor", outcomes.cluster],
    ["localWeight", "localFor", outcomes.local],
  ] as const;
  for (const [weight, list, outcome] of lists) {
    for (const { ip, port } of endingPlaces(entry, portIndex, family)) infoAt(ip, port)[weight] = 0;
    for (const { ip, port } of restingPlaces(entry, portIndex, family, list)) {
      infoAt(ip, port)[weight] = 0;
    }
    for (const [place, value] of weighted(outcome)) infoAt(place.ip, place.port)[weight] = value;
  }
  return infos;
}

/** Those that end, and serve the flows they have until then: nobody says goodbye to them. */
function endingPlaces(
  { service: { ending = EMPTY } }: ServiceEndpoints,
  portIndex: number,
  family: Family,
): readonly Place[] {
  return ending
    .filter((place) => place.portIndex === portIndex && familyOf(place.address) === family)
    .map(({ address, target }) => ({ ip: address, port: target }));
}

function weighted(outcome: Outcome): readonly (readonly [Place, number])[] {
  if (outcome.kind !== "targets") return [];
  const weights = integerWeights(outcome.targets);
  return outcome.targets.map((target, index) => [target, weights[index] ?? 1]);
}
