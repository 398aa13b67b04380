import type { Endpoint } from "../model/endpoint.ts";
import type { ServicePort } from "../model/service.ts";

/** What the destination of a packet is to its service. */
export type AddressType =
  | "cluster-ip"
  | "external-ip"
  | "load-balancer-ip"
  | "node-port"
  | "listen-address"
  | "edge-ip";

export const ADDRESS_TYPES: readonly AddressType[] = [
  "cluster-ip",
  "external-ip",
  "load-balancer-ip",
  "node-port",
  "listen-address",
  "edge-ip",
];

/** What a packet's destination was found to be. */
export interface Matched {
  readonly type: AddressType;
  /** Key of the service; of a listener whose service does not exist, the one that it names. */
  readonly service: string;
  /** Undefined where the service has no such port. */
  readonly port: ServicePort | undefined;
  /** Key of the listener; only for a listen address. */
  readonly listener?: string;
}

/** An endpoint that the packet may be sent to. */
export interface Candidate {
  readonly endpoint: Endpoint;
  /** Of the packet's family; the host name of an endpoint that has only that. */
  readonly address: string;
  readonly targetPort: number;
  /** Over all connections like this one; those of a verdict sum to 1. */
  readonly probability: number;
  /** Whether the endpoint sees an address of the node in place of the client's. */
  readonly masquerade: boolean;
}

/** An endpoint of the service that the packet is not sent to. */
export interface NotChosen {
  readonly endpoint: Endpoint;
  /** In words. */
  readonly reason: string;
}

interface VerdictCommon {
  /** In words, in the order in which they decided. */
  readonly reasons: readonly string[];
  /** Every other endpoint of the service; empty where it came to nothing before any was looked at. */
  readonly others: readonly NotChosen[];
}

/** The packet goes to one of these. */
export interface EndpointsVerdict extends VerdictCommon {
  readonly kind: "endpoints";
  readonly matched: Matched;
  readonly candidates: readonly Candidate[];
}

/** The client is told at once that nobody answers. */
export interface RejectVerdict extends VerdictCommon {
  readonly kind: "reject";
  readonly matched: Matched;
}

/** The client is told nothing. */
export interface DropVerdict extends VerdictCommon {
  readonly kind: "drop";
  readonly matched: Matched;
}

/** No service has to do with it: the packet goes its way untouched. */
export interface NotOursVerdict extends VerdictCommon {
  readonly kind: "not-ours";
}

export type Verdict = EndpointsVerdict | RejectVerdict | DropVerdict | NotOursVerdict;
