import type { StringMap } from "../../core/model/common.ts";
import type { StreamTransport } from "../../proxy/engine-config.ts";
import type { NodeFacts } from "./node-facts.ts";

/** On a listener: what its clients come by. On a group: how its servers are reached. */
export const TRANSPORT_ANNOTATION = "portolan/transport";

const NEEDS_SECRET = `the annotation ${TRANSPORT_ANNOTATION} is "kcp", which needs a secret: PORTOLAN_KCPTUN_SECRET or --kcp-secret-file`;

const TLS_WITHIN = `the annotation ${TRANSPORT_ANNOTATION} is "kcp", within which TLS is not spoken; expected one of the two: a tunnel is sealed without it`;

/** Why it can not be: then nobody is served or reached, least of all by plain TCP. Undefined where it can. */
export function transportObstacle(
  { annotations, tls }: { readonly annotations: StringMap; readonly tls: object | undefined },
  { hasTunnels = false }: Pick<NodeFacts, "hasTunnels">,
): string | undefined {
  const wanted = annotations[TRANSPORT_ANNOTATION] ?? "tcp";
  if (wanted === "tcp") return undefined;
  if (wanted === "kcp" && tls !== undefined) return TLS_WITHIN;
  if (wanted === "kcp") return hasTunnels ? undefined : NEEDS_SECRET;
  return `the annotation ${TRANSPORT_ANNOTATION} is "${wanted}"; expected kcp or tcp`;
}

/** Why a group is of no use for datagrams: they would be sent in the clear. Undefined where it is. */
export function datagramObstacle(group: {
  readonly annotations: StringMap;
  readonly tls: object | undefined;
}): string | undefined {
  const isSealed = group.tls !== undefined || transportOf(group) === "kcp";
  return isSealed
    ? "its servers are spoken to within TLS or KCP, which is for streams: no datagrams are sent to them"
    : undefined;
}

export function transportOf(object: { readonly annotations: StringMap }): StreamTransport {
  return object.annotations[TRANSPORT_ANNOTATION] === "kcp" ? "kcp" : "tcp";
}
