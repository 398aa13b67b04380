import { keyOf } from "../model/object.ts";
import type { Service } from "../model/service.ts";
import type { GlobalState } from "../store/state.ts";
import { type AccessDecision, listenerAccess, sourceRangeAccess } from "./access.ts";
import { chooseEndpoints } from "./choose.ts";
import { type Destination, indexDestinations } from "./destination.ts";
import { Notes } from "./notes.ts";
import { NOTHING_OBSERVED, type Observed } from "./observed.ts";
import { createOriginOf } from "./origin.ts";
import type { Packet, PacketOrigin } from "./packet.ts";
import { type RouteNode, routeNodeOf } from "./route-node.ts";
import type { RoutePolicy } from "./route-policy.ts";
import { edgeScope, externalScope, internalScope, type Scope } from "./scope.ts";
import { sourceLocality } from "./source-locality.ts";
import type { AddressType, Matched, Verdict } from "./verdict.ts";
import { destinationText, matchText } from "./words.ts";

/** The state of the cluster, and the node that a packet is on. */
export interface RouteState {
  readonly global: GlobalState;
  readonly node: string;
}

/** Answers for many packets on one state; like the state, to be used before the next transaction. */
export interface Router {
  route(packet: Packet, policy: RoutePolicy, observed?: Observed): Verdict;
  /** Where a packet with this source address comes from. */
  originOf(src: string): PacketOrigin;
}

/** Where a packet goes, and why: the one place where the rules of services are written down. */
export function route(
  state: RouteState,
  packet: Packet,
  policy: RoutePolicy,
  observed: Observed = NOTHING_OBSERVED,
): Verdict {
  return createRouter(state).route(packet, policy, observed);
}

/** `route` for many packets: the addresses of the state are indexed once. */
export function createRouter({ global, node: name }: RouteState): Router {
  const node = routeNodeOf(global, name);
  const findDestination = indexDestinations(global, node);
  return {
    originOf: createOriginOf(global, node),
    route(packet, policy, observed = NOTHING_OBSERVED) {
      const destination = findDestination(packet, policy.nodePortAddresses);
      if (destination === undefined) return notOurs(packet);
      return routeTo(destination, { global, node, packet, policy, observed });
    },
  };
}

interface Question {
  readonly global: GlobalState;
  readonly node: RouteNode;
  readonly packet: Packet;
  readonly policy: RoutePolicy;
  readonly observed: Observed;
}

function notOurs(packet: Packet): Verdict {
  const reason = `${destinationText(packet)} is no address of a service on this node`;
  return { kind: "not-ours", reasons: [reason], others: [] };
}

function routeTo(destination: Destination, question: Question): Verdict {
  const notes = new Notes();
  const matched = matchedOf(destination);
  const stop = (kind: "reject" | "drop"): Verdict => ({
    kind,
    matched,
    reasons: notes.reasons,
    others: notes.others(new Set()),
  });
  notes.because(matchText(matched, question.packet));

  const decision = accessTo(destination, question);
  if (decision !== undefined) notes.because(decision.reason);
  if (decision?.access === "deny") {
    notes.because("dropped: it is not let in");
    return stop("drop");
  }
  const { state, port } = destination;
  if (state === undefined || port === undefined) {
    notes.because(`rejected: ${whatIsMissing(destination)}`);
    return stop("reject");
  }

  const { node, packet, observed } = question;
  if (destination.type === "edge-ip" && packet.from === "outside") {
    notes.because(
      "rejected: an edge address is for those in the overlay; a listener lets others in",
    );
    return stop("reject");
  }
  const edge = destination.type === "edge-ip" ? destination.edge : undefined;
  const scope = scopeOf(destination.type, state.service, question);
  const fallsBack = destination.type !== "listen-address" || destination.listener.fallsBack;
  const call = { state, port, packet, scope, edge, fallsBack, node, observed };
  const choice = chooseEndpoints(call, notes);
  if (choice.kind !== "endpoints") return stop(choice.kind);
  const { candidates } = choice;
  const others = notes.others(new Set(candidates.map(({ endpoint }) => endpoint)));
  return { kind: "endpoints", matched, candidates, reasons: notes.reasons, others };
}

function accessTo(destination: Destination, question: Question): AccessDecision | undefined {
  const { global, node, packet } = question;
  switch (destination.type) {
    case "load-balancer-ip":
      return sourceRangeAccess(destination.state.service, packet, node);
    case "listen-address":
      return listenerAccess(global, destination.listener, packet);
    default:
      return undefined;
  }
}

function scopeOf(type: AddressType, service: Service, question: Question): Scope {
  const { node, packet, policy } = question;
  switch (type) {
    case "edge-ip":
      return edgeScope(packet);
    case "cluster-ip":
      return internalScope(service, policy, sourceLocality(packet, policy, node));
    default:
      return externalScope(service, packet, sourceLocality(packet, policy, node));
  }
}

function matchedOf(destination: Destination): Matched {
  const { type, port } = destination;
  if (destination.type !== "listen-address") return { type, service: destination.state.key, port };
  const { listener } = destination;
  return { type, service: listener.service, port, listener: keyOf(listener) };
}

function whatIsMissing(destination: Destination): string {
  if (destination.state === undefined) return "the service of the listener does not exist";
  return destination.type === "listen-address"
    ? `the service has no port named "${destination.listener.servicePort}"`
    : "the service has no such port";
}
