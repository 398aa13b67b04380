import type { Family } from "../core/model/address.ts";
import type { BalancingMethod, HealthCheck } from "../core/model/group.ts";
import type { ListenerMode, ProxyProtocol } from "../core/model/listener.ts";
import type { RouteHints } from "../core/model/route-hints.ts";
import type { SecurityGroup } from "../core/model/security-group.ts";
import type { TargetRule } from "../core/model/target-rules.ts";
import type { AccessWord, WayWord, WebsocksUrl } from "../core/model/websocks.ts";
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
  /** Of a host name: the families whose addresses are used; missing: all. */
  readonly families?: readonly Family[];
}

/** What carries a stream: TCP (or a unix socket), or a tunnel of KCP over UDP. */
export type StreamTransport = "tcp" | "kcp";

/** TLS to servers. */
export interface DialTlsConfig {
  /** What they are shown. */
  readonly certificate: CertificateConfig;
  /** PEM text of the authorities that theirs must come from. */
  readonly caPem: string;
  /** Who they may be. */
  readonly peers: readonly string[];
}

export interface GroupConfig {
  readonly key: string;
  readonly method: BalancingMethod;
  readonly healthCheck: HealthCheck;
  /** How long a server that came up takes to get its full share; 0: at once. */
  readonly slowStartMs: number;
  /** How its servers are reached; missing: TCP. */
  readonly transport?: StreamTransport;
  /** Missing: plain. */
  readonly tls?: DialTlsConfig | undefined;
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

/** A certificate with its chain and key, as PEM text. */
export interface CertificateConfig {
  readonly key: string;
  readonly certPem: string;
  readonly keyPem: string;
}

export interface TlsConfig {
  /** Keys of certificates; the first is for clients that name no host. */
  readonly certificates: readonly string[];
  /** PEM text of the authorities whose clients are let in; empty: clients need no certificate. */
  readonly clientCaPem: string;
  /** Who of them is let in; missing or empty: all. */
  readonly peers?: readonly string[];
}

export interface UserConfig {
  readonly name: string;
  readonly password: string;
}

export interface DnsConfig {
  /** Lower-case name to its addresses. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  /** Where names that are not ours are asked for. */
  readonly forwardTo: readonly SocketAddress[];
  /** How long answers about servers may be kept. */
  readonly ttlSeconds: number;
}

export interface SitePage {
  /** Of the field `Content-Type`. */
  readonly type: string;
  readonly body: Uint8Array;
}

/** The server's end of tunnels; who may come are the users of the listener. */
export interface WebsocksConfig {
  readonly targets: readonly TargetRule<AccessWord>[];
  /** By their paths. */
  readonly site: ReadonlyMap<string, SitePage>;
}

/** The client's end of tunnels. */
export interface WebsocksAgentConfig {
  /** By `HOST:PORT`, which is what a server is named in its namespace. */
  readonly servers: ReadonlyMap<string, WebsocksUrl>;
  readonly password: string;
  /** PEM text of the authorities of servers; empty where no server has TLS. */
  readonly caPem: string;
  readonly rules: readonly TargetRule<WayWord>[];
  readonly poolSize: number;
}

/** Clients that are sent to another upstream than all others. */
export interface UpstreamException {
  readonly networks: readonly string[];
  readonly upstream: string;
}

/** A service's address whose connections the kernel redirects to the listener. */
export interface RedirectedAddress {
  readonly address: SocketAddress;
  readonly upstream: string;
  readonly exceptions: readonly UpstreamException[];
  readonly access: SecurityGroup | undefined;
}

export interface ListenerConfig {
  readonly key: string;
  readonly address: SocketAddress;
  readonly mode: ListenerMode;
  /** What its clients come by. */
  readonly transport: StreamTransport;
  /** Key of the upstream that it sends to. */
  readonly upstream: string;
  readonly proxyProtocol: ProxyProtocol;
  /** Undefined: everyone may call. */
  readonly access: SecurityGroup | undefined;
  readonly idleTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly inBufferBytes: number;
  readonly outBufferBytes: number;
  /** Whether another group is taken where the one that suits a request has no healthy server. */
  readonly fallsBack: boolean;
  /** SOCKS5 and DNS: whether targets outside the upstream are served too. */
  readonly allowOthers: boolean;
  /** Undefined: plain. */
  readonly tls: TlsConfig | undefined;
  /** The group of loops that accepts; empty: the one that works. Datagrams know only the latter. */
  readonly acceptLoops: string;
  /** The group of loops that serves what was accepted; empty: the default one. */
  readonly workLoops: string;
  /** HTTP: networks whose word is taken for who their client is. */
  readonly trustedHops: readonly string[];
  /** SOCKS5 and WebSocks: one of them a client must be; empty: nobody is asked, but in WebSocks. */
  readonly users: readonly UserConfig[];
  /** For mode `dns`. */
  readonly dns: DnsConfig | undefined;
  /** For mode `websocks`. */
  readonly websocks: WebsocksConfig | undefined;
  /** For mode `websocks-agent`. */
  readonly websocksAgent: WebsocksAgentConfig | undefined;
  readonly exceptions: readonly UpstreamException[];
  /** Not empty: calls go by the address that they were made to, and to nobody where it is not among these. */
  readonly redirected: readonly RedirectedAddress[];
}

/** What most listeners do not use. */
export const PLAIN_LISTENER: Pick<
  ListenerConfig,
  | "transport"
  | "fallsBack"
  | "tls"
  | "acceptLoops"
  | "workLoops"
  | "trustedHops"
  | "users"
  | "dns"
  | "websocks"
  | "websocksAgent"
  | "exceptions"
  | "redirected"
> = {
  transport: "tcp",
  fallsBack: true,
  tls: undefined,
  acceptLoops: "",
  workLoops: "",
  trustedHops: [],
  users: [],
  dns: undefined,
  websocks: undefined,
  websocksAgent: undefined,
  exceptions: [],
  redirected: [],
};

/**
 * All that an engine shall do, as plain data that can be sent to a loop. The engine compares it with
 * what it does already and changes only what differs: no connection is dropped by a change of
 * something that it does not use.
 */
export interface EngineConfig {
  readonly listeners: readonly ListenerConfig[];
  readonly upstreams: readonly UpstreamConfig[];
  readonly groups: readonly GroupConfig[];
  readonly certificates: readonly CertificateConfig[];
}

export const EMPTY_ENGINE_CONFIG: EngineConfig = {
  listeners: [],
  upstreams: [],
  groups: [],
  certificates: [],
};
