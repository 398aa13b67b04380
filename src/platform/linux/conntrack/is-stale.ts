import { formatHostPort } from "../../../core/model/address.ts";
import type { Protocol } from "../../../core/model/common.ts";
import type { Flow } from "../../../wire/netlink/conntrack/flow.ts";

/** Who may answer the flows of clients. */
export interface DesiredFlows {
  /**
   * The endpoints that serve what is called there; undefined where that is no concern of ours. Empty
   * where nobody does (any more).
   */
  endpointsFor(protocol: Protocol, ip: string, port: number): ReadonlySet<string> | undefined;
}

/**
 * A flow is stale where its destination was translated to what is not among the endpoints now, and
 * where it was not translated although there are endpoints now: it began while there were none, and
 * would go nowhere for as long as its client keeps calling.
 */
export function isStale(flow: Flow, desired: DesiredFlows): boolean {
  const { protocol, original, reply, isDestinationNat } = flow;
  const endpoints = desired.endpointsFor(protocol, original.dst, original.dstPort);
  if (endpoints === undefined) return false;
  if (!isDestinationNat) return endpoints.size > 0;
  return !endpoints.has(formatHostPort(reply.src, reply.srcPort));
}
