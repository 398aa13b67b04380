import { familyOf } from "../model/address.ts";
import type { EdgeAddress, ServicePort } from "../model/service.ts";
import type { ServiceState } from "../store/state.ts";
import { addressIn } from "../view/candidates.ts";
import { type Selection, selectEndpoints } from "../view/select.ts";
import { keepAffinity } from "./affinity.ts";
import { distribute, type Share } from "./distribute.ts";
import { keepEdgeInstances } from "./edge-policy.ts";
import { type Eligible, eligibleIn } from "./eligible.ts";
import { whyNotListed } from "./exclusions.ts";
import { keepHintedGroup } from "./hinted-group.ts";
import type { Notes } from "./notes.ts";
import type { Observed } from "./observed.ts";
import type { Packet } from "./packet.ts";
import { ownsAddress, type RouteNode } from "./route-node.ts";
import type { Scope } from "./scope.ts";
import type { Candidate } from "./verdict.ts";

/** A packet that was let in to a port of a service. */
export interface Call {
  readonly state: ServiceState;
  readonly port: ServicePort;
  readonly packet: Packet;
  readonly scope: Scope;
  /** Undefined but for an edge address. */
  readonly edge: EdgeAddress | undefined;
  /** Whether the group that suits best is passed over where it has nobody. */
  readonly fallsBack: boolean;
  readonly node: RouteNode;
  readonly observed: Observed;
}

/** The endpoints that a call may go to, or what becomes of it without any. */
export type Choice =
  | { readonly kind: "endpoints"; readonly candidates: readonly Candidate[] }
  | { readonly kind: "reject" | "drop" };

export function chooseEndpoints(call: Call, notes: Notes): Choice {
  const { state, port, packet, scope, edge, fallsBack, node, observed } = call;
  const selection = selectEndpoints(state, port, familyOf(packet.dst), node);
  notes.because(scope.listReason);
  noteSelection(call, selection, notes);
  const list = selection[scope.list];
  if (list.size === 0) return withoutEndpoints(selection, notes);

  let eligible = eligibleIn(state, list, observed, notes);
  if (edge !== undefined) eligible = keepEdgeInstances(eligible, edge, node, observed, notes);
  if (eligible.length === 0) {
    notes.because("rejected: none of these takes new connections");
    return { kind: "reject" };
  }
  const { groups } = state;
  eligible = keepHintedGroup(eligible, { hint: packet.hint, groups, fallsBack }, notes);
  if (eligible.length === 0) {
    notes.because("rejected: it has nobody, and the listener does not fall back to other groups");
    return { kind: "reject" };
  }
  eligible = keepAffinity(eligible, { state, port, client: packet.src }, observed, notes);
  noteMethods(eligible, notes);
  notes.because(scope.sourceReason);
  return { kind: "endpoints", candidates: candidatesOf(call, distribute(eligible), notes) };
}

function noteSelection({ state, scope, node }: Call, selection: Selection, notes: Notes): void {
  const list = selection[scope.list];
  if (scope.list === "cluster" && selection.topology !== "none") {
    const where = selection.topology === "same-node" ? node.name : `zone ${node.zone}`;
    notes.because(`topology hints: only endpoints for ${where}`);
  }
  for (const group of state.groups) {
    for (const endpoint of group.state.endpoints) {
      if (list.has(endpoint)) continue;
      notes.exclude(endpoint, whyNotListed(endpoint, selection, scope.list, node));
    }
  }
  if ([...list.keys()].some((endpoint) => !endpoint.ready)) {
    notes.because("no endpoint is ready there: those that still serve while they terminate");
  }
}

/** None anywhere is an answer to give at once; none here may be put right by who sent it here. */
function withoutEndpoints(selection: Selection, notes: Notes): Choice {
  if (selection.hasAny) {
    notes.because("dropped: no endpoint on this node, but others elsewhere");
    return { kind: "drop" };
  }
  notes.because("rejected: the service has no usable endpoint anywhere");
  return { kind: "reject" };
}

function noteMethods(eligible: readonly Eligible[], notes: Notes): void {
  for (const { key, group } of new Set(eligible.map((one) => one.group.state))) {
    if (group !== undefined) notes.because(`group ${key} balances by ${group.method}`);
  }
}

/**
 * Who calls an instance of its own machine by an edge address is seen there by an address of the overlay:
 * both would else answer each other directly, and not by the address that was called.
 */
function candidatesOf(call: Call, shares: readonly Share[], notes: Notes): readonly Candidate[] {
  const { packet, scope, edge, node } = call;
  return shares.map((share) => {
    const address = addressIn(share.endpoint, familyOf(packet.dst)) ?? share.endpoint.hostName;
    if (endsHere(call, address)) {
      if (scope.masquerade) notes.because(`source kept to ${address}: it is this node's own`);
      return { ...share, address, masquerade: false };
    }
    const isHere = edge !== undefined && share.endpoint.node === node.name;
    const isHairpin = address === packet.src || isHere;
    if (isHairpin && !scope.masquerade) {
      const why = isHere ? "it is on this node" : "it calls itself";
      notes.because(`masqueraded to ${address}: ${why}, and the answer has to come back`);
    }
    return { ...share, address, masquerade: scope.masquerade || isHairpin };
  });
}

/** What comes from elsewhere and is for an address of the node never leaves it: it is not masqueraded. */
function endsHere({ packet, edge, node }: Call, address: string): boolean {
  return edge === undefined && packet.from !== "node" && ownsAddress(node, address);
}
