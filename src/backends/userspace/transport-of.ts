import type { StringMap } from "../../core/model/common.ts";
import type { StreamTransport } from "../../proxy/engine-config.ts";
import type { NodeFacts } from "./node-facts.ts";

/** On a listener: what its clients come by. On a group: how its servers are reached. */
export const TRANSPORT_ANNOTATION = "portolan/transport";

const NEEDS_SECRET = `the annotation ${TRANSPORT_ANNOTATION} is "kcp", which needs a secret: PORTOLAN_KCPTUN_SECRET or --kcp-secret-file`;

/** Why it can not be: then nobody is served or reached, least of all by plain TCP. Undefined where it can. */
export function transportObstacle(
  { annotations }: { readonly annotations: StringMap },
  { hasTunnels = false }: Pick<NodeFacts, "hasTunnels">,
): string | undefined {
  const wanted = annotations[TRANSPORT_ANNOTATION] ?? "tcp";
  if (wanted === "tcp") return undefined;
  if (wanted === "kcp") return hasTunnels ? undefined : NEEDS_SECRET;
  return `the annotation ${TRANSPORT_ANNOTATION} is "${wanted}"; expected kcp or tcp`;
}

export function transportOf(object: { readonly annotations: StringMap }): StreamTransport {
  return object.annotations[TRANSPORT_ANNOTATION] === "kcp" ? "kcp" : "tcp";
}
