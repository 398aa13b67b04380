import { isLoopback, isWildcard } from "../../core/model/address.ts";
import type { NodePortAddresses } from "../../core/route/route-policy.ts";

/** What is known of this machine, and what its operator set. */
export interface NodeFacts {
  readonly nodeName: string;
  /** The addresses of its interfaces, as `canonicalIp` writes them. */
  readonly machineAddresses: ReadonlySet<string>;
  readonly nodePortAddresses: NodePortAddresses;
}

/** Whether a socket of this machine can listen on the address. */
export function canListenOn({ machineAddresses }: NodeFacts, ip: string): boolean {
  return isWildcard(ip) || isLoopback(ip) || machineAddresses.has(ip);
}
