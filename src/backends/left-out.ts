import { isSocketPath } from "../core/model/socket-path.ts";
import type { NodeEndpoint } from "../core/view/ops.ts";

/** What can not be had of endpoints where the kernel sends packets to addresses, in words. */
export function leftOut(endpoints: readonly NodeEndpoint[]): readonly string[] {
  let hasName = false;
  let hasSocket = false;
  for (const { endpoint } of endpoints) {
    if (endpoint.addresses.length > 0) continue;
    if (isSocketPath(endpoint.hostName)) hasSocket = true;
    else hasName = true;
  }
  return [
    ...(hasName ? ["endpoints that have only a host name are left out"] : []),
    ...(hasSocket ? ["endpoints on unix sockets need a proxy, and are left out"] : []),
  ];
}
