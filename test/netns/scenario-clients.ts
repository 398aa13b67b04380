import { familyOf } from "../../src/core/model/address.ts";
import { keyOf, type ModelObject } from "../../src/core/model/object.ts";
import type { Scenario } from "../../src/core/route/scenarios/scenario.ts";
import { TOPOLOGY, type WorkloadName } from "../../src/core/route/scenarios/topology.ts";
import { OWN_ADDRESSES, PARTIES, type PartyName } from "./plan-network.ts";

/** More than a scenario calls. */
export const CLIENT_COUNT = 64;

/** The namespace that the packet is sent in. */
export function callerOf({ packet }: Scenario): PartyName {
  if (packet.from === "node") return "node-a";
  if (packet.from === "outside") return "outside";
  return ownerOf(packet.src);
}

/** Who has an address; all that nobody else has is `beyond`. */
export function ownerOf(ip: string): PartyName {
  if (Object.values(TOPOLOGY.loopback).includes(ip)) return "node-a";
  return PARTIES.find((party) => OWN_ADDRESSES[party].includes(ip)) ?? "beyond";
}

/**
 * The client with that number, the first being the scenario's own. Where there is affinity a client
 * that called has a history, so each packet is another's.
 */
export function clientAddress({ packet }: Scenario, index: number): string {
  if (index === 0) return packet.src;
  const isV6 = familyOf(packet.src) === "v6";
  const separator = isV6 ? ":" : ".";
  const at = packet.src.lastIndexOf(separator) + 1;
  const radix = isV6 ? 16 : 10;
  const host = Number.parseInt(packet.src.slice(at), radix) + index;
  return packet.src.slice(0, at) + host.toString(radix);
}

/** The state in which whoever calls is bound to that endpoint: there is no other, and no policy. */
export function bindingObjects(scenario: Scenario, endpoint: string): readonly ModelObject[] {
  const { objects } = scenario;
  const others = objects.filter(({ kind }) => kind !== "Endpoint");
  const bound = objects.find((object) => object.kind === "Endpoint" && keyOf(object) === endpoint);
  return [...others.map(withoutPolicies), bound ?? goneEndpoint(objects, endpoint)];
}

/** The state without services. */
export function emptyObjects({ objects }: Scenario): readonly ModelObject[] {
  return objects.filter(({ kind }) => kind === "Node");
}

function withoutPolicies(object: ModelObject): ModelObject {
  if (object.kind !== "Service") return object;
  return { ...object, internalTrafficPolicy: "Cluster", externalTrafficPolicy: "Cluster" };
}

/** One that the scenario's own state does not hold any more. */
function goneEndpoint(objects: readonly ModelObject[], key: string): ModelObject {
  const like = objects.find((object) => object.kind === "Endpoint");
  const name = key.slice(key.lastIndexOf("/") + 1);
  const names: readonly WorkloadName[] = ["client-a", "web-a", "web-b", "web-c"];
  const workload = names.find((one) => one === name);
  if (like?.kind !== "Endpoint" || workload === undefined) {
    throw new Error(`no workload is the endpoint ${key}`);
  }
  const { node, addresses } = TOPOLOGY.workloads[workload];
  return { ...like, name, node, addresses: [addresses.v4, addresses.v6] };
}
