import type { Service } from "../../core/model/service.ts";
import type { NodeEndpoint } from "../../core/view/ops.ts";

/** For which traffic a node may use an endpoint, in the words of the old contract. */
export interface Scopes {
  readonly internal: boolean;
  readonly external: boolean;
}

/** All there are, by their bits: 1 internal, 2 external. */
export const SCOPES: readonly [Scopes, Scopes, Scopes, Scopes] = [
  Object.freeze({ internal: false, external: false }),
  Object.freeze({ internal: true, external: false }),
  Object.freeze({ internal: false, external: true }),
  Object.freeze({ internal: true, external: true }),
];

/** An endpoint in neither scope is nothing that an old client could use. */
export const NEITHER: Scopes = SCOPES[0];

type Policies = Pick<Service, "internalTrafficPolicy" | "externalTrafficPolicy">;

/** The scopes of an endpoint follow from its lists and the policies of its service. */
export function scopesOf(endpoint: NodeEndpoint, policies: Policies): Scopes {
  let cluster = false;
  let local = false;
  for (const port of endpoint.ports) {
    if (port.clusterFor.length > 0) cluster = true;
    if (port.localFor.length > 0) local = true;
  }
  const internal = policies.internalTrafficPolicy === "Local" ? local : cluster;
  const external = policies.externalTrafficPolicy === "Local" ? local : cluster;
  if (internal) return external ? SCOPES[3] : SCOPES[1];
  return external ? SCOPES[2] : NEITHER;
}
