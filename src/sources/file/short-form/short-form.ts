import type { Family } from "../../../core/model/address.ts";
import type { StringMap } from "../../../core/model/common.ts";
import type { TopologyHints } from "../../../core/model/endpoint.ts";
import type { BalancingMethod } from "../../../core/model/group.ts";
import type { ListenerMode } from "../../../core/model/listener.ts";
import type { RouteHints } from "../../../core/model/route-hints.ts";
import type { Access } from "../../../core/model/security-group.ts";
import type { EdgePolicy, ServiceType, TrafficPolicy } from "../../../core/model/service.ts";

/**
 * The short form after its notations are read (`HOST:PORT`, `5s`, one value for a list of one), before
 * names and references are expanded. What is not said is undefined: the model has the defaults.
 */
export interface ShortForm {
  readonly version: 1;
  readonly namespace: string;
  readonly services: Readonly<Record<string, ShortService>>;
  readonly groups: Readonly<Record<string, ShortGroup>>;
  readonly nodes: Readonly<Record<string, object>>;
  readonly certificates: Readonly<Record<string, ShortCertificate>>;
  readonly securityGroups: Readonly<Record<string, ShortSecurityGroup>>;
  readonly objects: readonly unknown[];
}

export interface ShortMetadata {
  readonly labels?: StringMap | undefined;
  readonly annotations?: StringMap | undefined;
}

/** How a group balances and checks, said at the group or at the service whose own group it is. */
export interface ShortBalancing {
  readonly method?: BalancingMethod | undefined;
  readonly healthCheck?: object | undefined;
  readonly slowStart?: number | undefined;
  readonly hints?: RouteHints | undefined;
  readonly tls?: ShortServerTls | undefined;
  readonly servers: readonly ShortServer[];
}

/** TLS to the servers of a group. */
export interface ShortServerTls {
  readonly certificate: string;
  readonly peers: readonly string[];
}

export interface ShortGroup extends ShortMetadata, ShortBalancing {}

export interface ShortService extends ShortMetadata, ShortBalancing {
  readonly type?: ServiceType | undefined;
  readonly listen: readonly ShortListen[];
  readonly clusterIPs: readonly string[];
  readonly externalIPs: readonly string[];
  readonly loadBalancerIPs: readonly string[];
  readonly edgeIPs: readonly ShortEdgeAddress[];
  readonly ports: readonly ShortPort[];
  readonly groups: readonly ShortGroupRef[];
  readonly internalTrafficPolicy?: TrafficPolicy | undefined;
  readonly externalTrafficPolicy?: TrafficPolicy | undefined;
  readonly affinity: number;
  readonly sourceRanges: readonly string[];
  readonly healthCheckNodePort?: number | undefined;
  readonly trafficDistribution?: string | undefined;
}

export interface ListenAddress {
  readonly address: string;
  readonly port: number;
}

export interface ShortListen extends ShortMetadata {
  readonly at: ListenAddress;
  readonly name?: string | undefined;
  readonly mode: ListenerMode;
  readonly servicePort?: string | undefined;
  readonly tls?: ShortTls | undefined;
  readonly proxyProtocol?: object | undefined;
  readonly securityGroup?: string | undefined;
  readonly idleTimeout?: number | undefined;
  readonly connectTimeout?: number | undefined;
  readonly inBufferBytes?: number | undefined;
  readonly outBufferBytes?: number | undefined;
  readonly acceptLoops?: string | undefined;
  readonly workLoops?: string | undefined;
  readonly fallsBack?: boolean | undefined;
  readonly allowOthers?: boolean | undefined;
  readonly usersFile?: string | undefined;
  readonly trustedHops?: readonly string[] | undefined;
  readonly hostsFile?: string | undefined;
  readonly forwardTo?: readonly string[] | undefined;
  /** In milliseconds, as all durations; whole seconds count. */
  readonly dnsTtl?: number | undefined;
  readonly node?: string | undefined;
}

export interface ShortTls {
  readonly certificates: readonly string[];
  readonly clientCaFile?: string | undefined;
  readonly peers?: readonly string[] | undefined;
}

export interface ShortEdgeAddress {
  readonly address: string;
  readonly policy?: EdgePolicy | undefined;
  readonly instance?: number | undefined;
}

export interface ShortPort {
  readonly name: string;
  readonly protocol: "TCP" | "UDP" | "SCTP";
  readonly port: number;
  readonly nodePort?: number | undefined;
  readonly targetPort?: number | string | undefined;
}

export interface ShortGroupRef {
  readonly name: string;
  readonly weight?: number | undefined;
  readonly hints?: RouteHints | undefined;
}

/** `HOST` or `HOST:PORT`; the port is 0 where none is said. */
export interface ServerAddress {
  readonly host: string;
  readonly isName: boolean;
  readonly port: number;
}

export interface ShortServer extends ShortMetadata {
  readonly at: readonly ServerAddress[];
  /** Of a host name: which addresses are wanted. */
  readonly families?: readonly Family[] | undefined;
  readonly name?: string | undefined;
  readonly ports: Readonly<Record<string, number>>;
  readonly weight?: number | undefined;
  readonly node?: string | undefined;
  readonly zone?: string | undefined;
  readonly topology?: TopologyHints | undefined;
  readonly ready?: boolean | undefined;
  readonly serving?: boolean | undefined;
  readonly terminating?: boolean | undefined;
  readonly instance?: number | undefined;
  readonly needs: readonly string[];
  readonly podName?: string | undefined;
}

export interface ShortCertificate extends ShortMetadata {
  readonly certFiles: readonly string[];
  readonly keyFile: string;
  readonly caFile?: string | undefined;
}

export interface ShortSecurityGroup extends ShortMetadata {
  readonly default: Access;
  readonly rules: readonly ShortRule[];
}

export interface ShortRule {
  readonly name?: string | undefined;
  readonly network: string;
  readonly protocol?: "TCP" | "UDP" | "SCTP" | undefined;
  readonly ports?: { readonly minPort: number; readonly maxPort: number } | undefined;
  readonly access: Access;
}
