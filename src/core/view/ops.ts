import type { Family } from "../model/address.ts";
import type { Certificate } from "../model/certificate.ts";
import type { Endpoint } from "../model/endpoint.ts";
import type { Group } from "../model/group.ts";
import type { Listener } from "../model/listener.ts";
import type { Node } from "../model/node.ts";
import type { SecurityGroup } from "../model/security-group.ts";
import type { Service } from "../model/service.ts";

/** Where an endpoint answers that is about to end and still serves. */
export interface EndingPlace {
  /** Which port of the service it is. */
  readonly portIndex: number;
  readonly address: string;
  readonly target: number;
}

/** A service as one node needs it. */
export interface NodeService {
  readonly key: string;
  readonly service: Service;
  /**
   * For each port of the service, the families in which an endpoint can be used anywhere. A family
   * that is missing means "none anywhere" (reject); one that is there while this node was sent no
   * endpoint for it means "none for this node" (drop).
   */
  readonly usable: readonly (readonly Family[])[];
  /**
   * Of its UDP and SCTP ports, the endpoints that terminate and still serve, whether or not this node
   * sends anyone to them: who is with them stays. Missing where there are none.
   */
  readonly ending?: readonly EndingPlace[];
}

/** How one node uses an endpoint for one port of its service. */
export interface NodeEndpointPort {
  /** Name of the service's port. */
  readonly name: string;
  /** Where the endpoint serves it. */
  readonly target: number;
  /** Families in which it is among the endpoints of the whole cluster that this node may use. */
  readonly clusterFor: readonly Family[];
  /** Families in which it is among the endpoints that a Local policy leaves. */
  readonly localFor: readonly Family[];
}

/** An endpoint as one node needs it: never without a port that the node may use. */
export interface NodeEndpoint {
  /** Key of the service, then the endpoint's own key: `namespace/service/name`. */
  readonly path: string;
  readonly service: string;
  readonly group: string;
  readonly endpoint: Endpoint;
  /** Whether it runs on this node. */
  readonly local: boolean;
  readonly ports: readonly NodeEndpointPort[];
}

/** What each set holds. Services and endpoints are sent always, the others where they are wanted. */
export interface SetValues {
  readonly services: NodeService;
  readonly endpoints: NodeEndpoint;
  readonly listeners: Listener;
  readonly groups: Group;
  readonly nodes: Node;
  readonly "security-groups": SecurityGroup;
  readonly certificates: Certificate;
}

export type SetName = keyof SetValues;

export const ALL_SETS: readonly SetName[] = [
  "services",
  "endpoints",
  "listeners",
  "groups",
  "nodes",
  "security-groups",
  "certificates",
];

export type SetOp = {
  [S in SetName]: {
    readonly op: "set";
    readonly set: S;
    readonly path: string;
    readonly value: SetValues[S];
  };
}[SetName];

export interface DeleteOp {
  readonly op: "delete";
  readonly set: SetName;
  readonly path: string;
}

/** All of a change was sent: apply it. */
export interface SyncOp {
  readonly op: "sync";
}

/** Forget everything: what follows up to the next sync is the whole state. */
export interface ResetOp {
  readonly op: "reset";
}

/** The only words between the view and a sink, in process or over gRPC. */
export type Op = SetOp | DeleteOp | SyncOp | ResetOp;

export const SYNC: SyncOp = Object.freeze({ op: "sync" });
export const RESET: ResetOp = Object.freeze({ op: "reset" });
