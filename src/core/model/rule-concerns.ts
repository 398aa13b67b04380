import type { Protocol } from "./common.ts";
import type { SecurityRule } from "./security-group.ts";

/** Whether a rule is about what calls a port in a protocol. */
export function ruleConcerns(
  { protocol, minPort, maxPort }: SecurityRule,
  called: Protocol,
  port: number,
): boolean {
  return (protocol === "any" || protocol === called) && minPort <= port && port <= maxPort;
}
