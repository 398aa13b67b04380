import type { ServicePort } from "../../core/model/service.ts";
import type { ServiceEndpoints } from "../../core/sinks/fullstate.ts";
import type { Families } from "./upstream-planner.ts";

/**
 * Whether the port has an endpoint anywhere. Where it has none, a UDP socket is not opened: only a
 * closed port tells a sender of datagrams that nobody answers.
 */
export function isUsable(item: ServiceEndpoints, port: ServicePort, families: Families): boolean {
  const { service, usable } = item.service;
  const index = service.ports.findIndex(({ name }) => name === port.name);
  return families.some((family) => usable[index]?.includes(family) === true);
}
