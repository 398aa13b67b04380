/**
 * `portolan/proxy`: load balancers, SOCKS5 and DNS servers in this process (`serve`), and balancing with health
 * checks for one's own client (`balance`). What they are made of follows: server groups, upstreams, security
 * groups, and the engine with its event loops.
 */

export { type Balance, type BalanceOptions, balance } from "../apps/simple/balance.ts";
export type {
  OnServerHealth,
  ServerReport,
  TakenServer,
} from "../apps/simple/balanced-servers.ts";
export type { ConnectOptions, CreateConnection } from "../apps/simple/connect-balanced.ts";
export { type ServeOptions, type Serving, serve } from "../apps/simple/serve.ts";
export type {
  DurationText,
  HealthCheckDescription,
  ListenDescription,
  ServerDescription,
  ServersDescription,
  ServiceDescription,
  StateDescription,
} from "../apps/simple/state-description.ts";
export type { UndiciInterceptor } from "../apps/simple/undici-interceptor.ts";
export type { BackendStatus, UnservedListener } from "../backends/backend.ts";
export { CoreError, type CoreErrorOptions, type ErrorCode } from "../core/errors.ts";
export type { Log } from "../core/log.ts";
export type { MetricFamily, MetricSample } from "../core/metrics/metric-family.ts";

// What they are made of.

export type { DispatchOptions } from "../apps/simple/undici-interceptor.ts";
export type { KcpCounters } from "../net/kcp/kcp-counters.ts";
export type { KcpOptions, TunnelSettings } from "../net/kcp/kcp-options.ts";
export type { SessionKeys } from "../net/kcp/noise-nn.ts";
export type { CreateSealer, Sealer } from "../net/kcp/sealer.ts";
export type { TunnelCounters, TunnelStats } from "../net/kcp/tunnel-counters.ts";
export type { WorkerStart } from "../net/threads/loop-thread.ts";
export type { Accepts } from "../proxy/balance/balancer.ts";
export type { MemberSpec } from "../proxy/balance/member.ts";
export type { PeakEwma } from "../proxy/balance/peak-ewma.ts";
export { Server } from "../proxy/balance/server.ts";
export type { HealthChange, MemberHealth, OnHealth } from "../proxy/engine/health-board.ts";
export type { InheritedSockets } from "../proxy/engine/inherited-sockets.ts";
export type {
  EngineLoops,
  LoopEntry,
  LoopGroupEntry,
  LoopGroupNames,
  Retired,
} from "../proxy/engine/loop-control.ts";
export { createEngine, type Engine, type EngineOptions } from "../proxy/engine.ts";
export type { EngineChannel, EngineChannels } from "../proxy/engine-channels.ts";
export type {
  DialTlsConfig,
  SitePage,
  StreamTransport,
  WebsocksAgentConfig,
  WebsocksConfig,
} from "../proxy/engine-config.ts";
export {
  type CertificateConfig,
  type DnsConfig,
  EMPTY_ENGINE_CONFIG,
  type EngineConfig,
  type GroupConfig,
  type ListenerConfig,
  PLAIN_LISTENER,
  type RedirectedAddress,
  type ServerConfig,
  type TlsConfig,
  type UpstreamConfig,
  type UpstreamException,
  type UpstreamGroupConfig,
  type UserConfig,
} from "../proxy/engine-config.ts";
export type { EngineNames, KnownName } from "../proxy/engine-names.ts";
export type {
  EngineStats,
  GroupStats,
  ListenerStats,
  LoopFigures,
  ServerCounts,
  ServerStats,
} from "../proxy/engine-stats.ts";
export type { Health, HealthEdge } from "../proxy/health/health-state.ts";
export { SecurityGroup } from "../proxy/security-group.ts";
export { ServerGroup, type ServerGroupOptions } from "../proxy/server-group.ts";
export type { CheckCounts, TrafficCounts } from "../proxy/stats/counter-row.ts";
export type { LatencyHistogram } from "../proxy/stats/latency-buckets.ts";
export { type Attachment, type Choice, Upstream, type UpstreamOptions } from "../proxy/upstream.ts";
export type { FastLevel } from "../wire/kcp/kcp-mode.ts";
