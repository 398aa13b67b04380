import type { StringMap } from "../../core/model/common.ts";
import type { StreamTransport } from "../../proxy/engine-config.ts";

/** On a listener: what its clients come by. On a group: how its servers are reached. */
export const TRANSPORT_ANNOTATION = "portolan/transport";

export const NEEDS_SECRET: string = `the annotation ${TRANSPORT_ANNOTATION} is "kcp", which needs a secret: PORTOLAN_KCPTUN_SECRET or --kcp-secret-file`;

export function transportOf(object: { readonly annotations: StringMap }): StreamTransport {
  return object.annotations[TRANSPORT_ANNOTATION] === "kcp" ? "kcp" : "tcp";
}
