import { createRandom } from "./random.ts";

/** How large a made-up cluster is; the same numbers always give the same cluster. */
export interface ClusterSize {
  readonly services: number;
  readonly endpointsPerService: number;
  readonly nodes: number;
  readonly zones: number;
}

/** The state for which the targets are set. */
export const FULL_SIZE: ClusterSize = {
  services: 10_000,
  endpointsPerService: 10,
  nodes: 1000,
  zones: 10,
};

export interface Place {
  readonly node: string;
  readonly zone: string;
}

export interface Pod {
  readonly name: string;
  /** Among all pods of the cluster; gives its addresses. */
  readonly number: number;
  readonly place: Place;
  readonly condition: "ready" | "terminating" | "not-ready";
}

const SEED = 20_819;
const TERMINATING_SHARE = 0.02;
const NOT_READY_SHARE = 0.01;

/**
 * What sets the services apart: of blocks of `block` services, `first` and every `each`-th after it.
 * Blocks of different lengths let the traits meet each other.
 */
const TRAITS = {
  affinity: { block: 10, each: 5, first: 0 },
  nodePort: { block: 1, each: 10, first: 1 },
  loadBalancer: { block: 1, each: 20, first: 1 },
  localExternal: { block: 1, each: 20, first: 11 },
  localLoadBalancer: { block: 1, each: 40, first: 1 },
  localInternal: { block: 1, each: 50, first: 7 },
  dualStack: { block: 1, each: 10, first: 3 },
  zoneHints: { block: 10, each: 4, first: 2 },
  secondPort: { block: 10, each: 3, first: 1 },
  udp: { block: 1, each: 10, first: 9 },
} as const;

export type Trait = keyof typeof TRAITS;

export function hasTrait(trait: Trait, service: number): boolean {
  const { block, each, first } = TRAITS[trait];
  return Math.floor(service / block) % each === first;
}

export function nodeName(index: number): string {
  return `node-${String(index).padStart(4, "0")}`;
}

export function zoneName(index: number): string {
  return `zone-${index}`;
}

/** The nodes, spread over the zones in turn. */
export function placesOf(size: ClusterSize): readonly Place[] {
  return Array.from({ length: size.nodes }, (_, index) => ({
    node: nodeName(index),
    zone: zoneName(index % size.zones),
  }));
}

/** The pods of each service, on nodes by lot. */
export function podsOf(size: ClusterSize): readonly (readonly Pod[])[] {
  const random = createRandom(SEED);
  const places = placesOf(size);
  const pick = (): Place => {
    const place = places[Math.floor(random() * places.length)];
    if (place === undefined) throw new Error("a cluster needs at least one node");
    return place;
  };
  return Array.from({ length: size.services }, (_, service) =>
    Array.from({ length: size.endpointsPerService }, (_, index) => ({
      name: `service-${service}-7d4b9c6f5-${suffixFrom(random)}`,
      number: service * size.endpointsPerService + index,
      place: pick(),
      condition: conditionFrom(random()),
    })),
  );
}

function conditionFrom(lot: number): Pod["condition"] {
  if (lot < NOT_READY_SHARE) return "not-ready";
  return lot < NOT_READY_SHARE + TERMINATING_SHARE ? "terminating" : "ready";
}

/** Five letters, as a pod's name ends. */
function suffixFrom(random: () => number): string {
  const RADIX = 36;
  return Math.floor(random() * RADIX ** 5)
    .toString(RADIX)
    .padStart(5, "0");
}
