/** A client that was sent to an endpoint before. */
export interface AffinityRecord {
  /** Key of the service. */
  readonly service: string;
  /** Name of the service's port. */
  readonly port: string;
  /** Address of the client. */
  readonly client: string;
  /** Key of the endpoint. */
  readonly endpoint: string;
  /** How long ago its last connection began. */
  readonly ageSeconds: number;
}

/** What only running things know. What is missing was not observed. */
export interface Observed {
  readonly affinity?: readonly AffinityRecord[];
  /** By key of the endpoint; one that is not in it counts as healthy. */
  readonly health?: ReadonlyMap<string, boolean>;
  /** From this node to others, by name of the node. */
  readonly roundTripMs?: ReadonlyMap<string, number>;
}

export const NOTHING_OBSERVED: Observed = Object.freeze({});
