import type { Kind } from "../../core/model/object.ts";
import type { SetName } from "../../core/view/ops.ts";

/** The version of our fields (from number 100 up) that a message or a client declares to know. */
export const EXTENSION_VERSION = 1;

/** Where the fields that KPNG does not know begin; the first one is the version, in every message. */
export const EXTENSION_FIELD = 100;

/** Numbers of `localv1.Set`. Those from 100 up are ours and only sent to who asks for them. */
export const SET_ID = {
  services: 1,
  endpoints: 2,
  globalServices: 10,
  globalEndpoints: 11,
  globalNodes: 12,
  listeners: 100,
  groups: 101,
  nodes: 102,
  "security-groups": 103,
  certificates: 104,
} as const;

/** A set of the node-local API beyond services and endpoints. */
export type FurtherSet = Exclude<SetName, "services" | "endpoints">;

const FURTHER_SETS: ReadonlyMap<number, FurtherSet> = new Map<number, FurtherSet>([
  [SET_ID.listeners, "listeners"],
  [SET_ID.groups, "groups"],
  [SET_ID.nodes, "nodes"],
  [SET_ID["security-groups"], "security-groups"],
  [SET_ID.certificates, "certificates"],
]);

/** The name of a set beyond services and endpoints; undefined for numbers that are not known here. */
export function furtherSetOf(id: number): FurtherSet | undefined {
  return FURTHER_SETS.get(id);
}

/** A kind that the global API sends as JSON, since KPNG has no message for it. */
export type FurtherKind = Exclude<Kind, "Service" | "Endpoint" | "Node">;

export const FURTHER_KIND_ID: Readonly<Record<FurtherKind, number>> = {
  Listener: SET_ID.listeners,
  Group: SET_ID.groups,
  SecurityGroup: SET_ID["security-groups"],
  Certificate: SET_ID.certificates,
};

const FURTHER_KINDS: ReadonlyMap<number, FurtherKind> = new Map<number, FurtherKind>([
  [SET_ID.listeners, "Listener"],
  [SET_ID.groups, "Group"],
  [SET_ID["security-groups"], "SecurityGroup"],
  [SET_ID.certificates, "Certificate"],
]);

export function furtherKindOf(id: number): FurtherKind | undefined {
  return FURTHER_KINDS.get(id);
}
