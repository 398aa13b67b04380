import type { Protocol, StringMap } from "../../core/model/common.ts";
import type { Tunnel } from "../../core/model/node.ts";
import type { EdgeAddress, EdgePolicy } from "../../core/model/service.ts";

/** What a node says of itself. */
export interface NodePlace {
  readonly addresses: readonly string[];
  readonly zone: string;
  readonly labels: StringMap;
  readonly tunnel?: Tunnel | undefined;
}

export interface JoinRequest extends NodePlace {
  readonly token: string;
  readonly node: string;
  /** PEM, SPKI, on the curve P-256. */
  readonly publicKey: string;
  /** What its workloads have from an earlier time: it is given again where it is free. */
  readonly subnets?: readonly string[] | undefined;
}

/** What is missing stays as it was. */
export interface RenewRequest {
  readonly addresses?: readonly string[] | undefined;
  readonly zone?: string | undefined;
  readonly labels?: StringMap | undefined;
  readonly tunnel?: Tunnel | undefined;
  /** By node, how far others are; of `MAX_ROUND_TRIPS` at most. */
  readonly roundTripsMs?: Readonly<Record<string, number>> | undefined;
  readonly wantsCertificate: boolean;
}

/** Of more nodes one node does not tell how far they are. */
export const MAX_ROUND_TRIPS = 64;

/** What a node told of how far others are from it. */
export interface NodeRoundTrips {
  readonly node: string;
  readonly ageMs: number;
  readonly toMs: Readonly<Record<string, number>>;
}

export interface UndeployRequest {
  /** NAMESPACE/NAME. */
  readonly service: string;
  readonly instance: number;
}

/** All that runs on a node. */
export interface ReconcileRequest {
  readonly instances: readonly UndeployRequest[];
}

export interface DeployRequest extends UndeployRequest {
  readonly addresses: readonly string[];
  /** Missing: as the service has them. */
  readonly ports?:
    | readonly { readonly name: string; readonly protocol: Protocol; readonly port: number }[]
    | undefined;
  readonly ready: boolean;
  readonly weight: number;
  readonly needs: readonly string[];
  readonly labels: StringMap;
  /** Addresses that are wanted; those of policies that are not named here are given. */
  readonly edgeIPs: readonly { readonly address: string; readonly policy: EdgePolicy }[];
}

export interface TableRequest {
  /** A name or an address. */
  readonly query: string;
}

export interface CreateTokenRequest {
  readonly lifetimeMs: number;
  /** -1: any number. */
  readonly uses: number;
  readonly note: string;
  /** NAMESPACE/NAME: for the identity of that service; empty: for nodes. */
  readonly service: string;
}

export interface IdentifyRequest {
  readonly token: string;
  /** NAMESPACE/NAME. */
  readonly service: string;
  /** PEM, SPKI, on the curve P-256. */
  readonly publicKey: string;
}

export interface RevokeTokenRequest {
  readonly id: string;
}

export interface RemoveNodeRequest {
  readonly node: string;
}

/** What a node has to know to be one. */
export interface NodeTerms {
  readonly node: string;
  readonly subnets: readonly string[];
  /** Where service addresses come from: what the tunnel device is for. */
  readonly serviceRanges: readonly string[];
  /** It has to renew so often, */
  readonly renewEveryMs: number;
  /** or is dead after so long. */
  readonly timeoutMs: number;
  /** `HOST:PORT` of those who may be asked as well, where there are several. */
  readonly managers: readonly string[];
}

/** Who a node is, as others can check. */
export interface NodeCredentials {
  /** PEM. */
  readonly certificate: string;
  /** PEM, of who signed it. */
  readonly authority: string;
  readonly expiresMs: number;
}

export interface JoinAnswer extends NodeTerms {
  readonly credentials: NodeCredentials;
}

export interface RenewAnswer extends NodeTerms {
  readonly credentials?: NodeCredentials | undefined;
}

export interface DeployAnswer {
  readonly service: string;
  readonly instance: number;
  readonly edgeIPs: readonly EdgeAddress[];
}

export interface ReconcileAnswer {
  /** How many it was believed to have that it does not. */
  readonly gone: number;
}

export interface UndeployAnswer {
  /** False where it was not there, or is another node's. */
  readonly isGone: boolean;
}
