import type { Family } from "../../../core/model/address.ts";
import type { Protocol } from "../../../core/model/common.ts";
import type { AddressType } from "../../../core/route/verdict.ts";
import type { AccessList } from "../../access-list.ts";

/** Which handler knows how it is served. Cluster IPs and external IPs are of one type. */
export type ServiceType = "ClusterIP" | "NodePort" | "LoadBalancer" | "Listener";

export type EntranceKind = Exclude<AddressType, "edge-ip">;

/** What becomes of a call: `rejected` where nobody can serve, `dropped` where only others can. */
export type CallOutcome = "served" | "rejected" | "dropped";

/** One address and port that clients call. */
export interface Entrance {
  readonly kind: EntranceKind;
  readonly protocol: Protocol;
  readonly ip: string;
  readonly port: number;
  /** Whether the node has the address anyway. */
  readonly isNodes: boolean;
  /** Which endpoints it leads to. */
  readonly list: "cluster" | "local";
  /** Of everyone's calls; with a mark for insiders, of all others' calls. */
  readonly outcome: CallOutcome;
  /** The mark by which workloads and this node itself come to all endpoints of the cluster. */
  readonly insideMark: number | undefined;
  /** Undefined: everyone. */
  readonly access: AccessList | undefined;
}

/** How a virtual server chooses. */
export interface Balancing {
  /** The kernel's name of it: `wrr`. */
  readonly scheduler: string;
  /** Bits of `IP_VS_SVC_F_`. */
  readonly flags: number;
  /** How long a client stays with its endpoint; 0: it does not. */
  readonly persistenceSeconds: number;
}

/** A port of a service in one family, as far as one handler serves it. */
export interface ServiceInfo {
  /** `v4 default/web:main TCP ClusterIP`. */
  readonly id: string;
  /** Key of the service. */
  readonly service: string;
  readonly type: ServiceType;
  readonly family: Family;
  readonly balancing: Balancing;
  readonly entrances: readonly Entrance[];
  /** Where a load balancer outside asks whether this node serves; 0 where it does not. */
  readonly healthCheckPort: number;
}

/** An endpoint of such a port. */
export interface EndpointInfo {
  readonly ip: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** Through this node. */
  readonly mayCallItself: boolean;
  /** Among the endpoints of the cluster; undefined where it is none of them. 0: it only keeps what it has. */
  readonly clusterWeight: number | undefined;
  /** Among those that a Local policy leaves. */
  readonly localWeight: number | undefined;
}

/** A service with its endpoints by address. */
export interface ServiceWithEndpoints {
  readonly service: ServiceInfo;
  readonly endpoints: ReadonlyMap<string, EndpointInfo>;
}

/** What should be there, by the id of the service. */
export type DesiredState = ReadonlyMap<string, ServiceWithEndpoints>;
