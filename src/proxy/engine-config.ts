import type { BalancingMethod, HealthCheck, RouteHints } from "../core/model/group.ts";
import type { ListenerMode, ProxyProtocol } from "../core/model/listener.ts";
import type { SecurityGroup } from "../core/model/security-group.ts";
import type { SocketAddress } from "../platform/socket-address.ts";

/** A server that a group sends to. */
export interface ServerConfig {
  /** Unique in its group, and the same as long as it is the same server. */
  readonly key: string;
  /** An IP address, a host name, or the path of a unix socket (then `port` is 0). */
  readonly host: string;
  readonly port: number;
  /** 0 drains. */
  readonly weight: number;
}

export interface GroupConfig {
  readonly key: string;
  readonly method: BalancingMethod;
  readonly healthCheck: HealthCheck;
  readonly servers: readonly ServerConfig[];
}

export interface UpstreamGroupConfig {
  /** Key of the group. */
  readonly group: string;
  readonly weight: number;
  readonly hints: RouteHints;
}

export interface UpstreamConfig {
  readonly key: string;
  readonly groups: readonly UpstreamGroupConfig[];
  /** Seconds that a client stays with its server; 0 for no affinity. */
  readonly affinitySeconds: number;
}

export interface ListenerConfig {
  readonly key: string;
  readonly address: SocketAddress;
  readonly mode: ListenerMode;
  /** Key of the upstream that it sends to. */
  readonly upstream: string;
  readonly proxyProtocol: ProxyProtocol;
  /** Undefined: everyone may call. */
  readonly access: SecurityGroup | undefined;
  readonly idleTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly inBufferBytes: number;
  readonly outBufferBytes: number;
  /** SOCKS5: whether targets outside the upstream are served too. */
  readonly allowOthers: boolean;
}

/**
 * All that an engine shall do, as plain data that can be sent to a loop. The engine compares it with
 * what it does already and changes only what differs: no connection is dropped by a change of
 * something that it does not use.
 */
export interface EngineConfig {
  readonly listeners: readonly ListenerConfig[];
  readonly upstreams: readonly UpstreamConfig[];
  readonly groups: readonly GroupConfig[];
}
