import type { HealthCheck } from "../../src/core/model/group.ts";
import { NO_HINTS } from "../../src/core/model/route-hints.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import {
  EMPTY_ENGINE_CONFIG,
  type EngineConfig,
  type GroupConfig,
  type ListenerConfig,
  PLAIN_LISTENER,
  type ServerConfig,
} from "../../src/proxy/engine-config.ts";

export const LOCAL = "127.0.0.1";

const HTTP_CHECK = { method: "GET", path: "/", host: "", status: ["2xx"] };

export const NO_CHECK: HealthCheck = {
  protocol: "none",
  timeoutMs: 500,
  intervalMs: 50,
  up: 1,
  down: 1,
  http: HTTP_CHECK,
  dnsName: "",
};

export const TCP_CHECK: HealthCheck = { ...NO_CHECK, protocol: "tcp" };

export function listenerOf(changes: Partial<ListenerConfig> = {}): ListenerConfig {
  return {
    key: "web",
    address: ipAddress(LOCAL, 0),
    mode: "tcp",
    upstream: "web",
    proxyProtocol: { send: "none", acceptFrom: [] },
    access: undefined,
    idleTimeoutMs: 60_000,
    connectTimeoutMs: 1000,
    inBufferBytes: 16_384,
    outBufferBytes: 16_384,
    allowOthers: false,
    ...PLAIN_LISTENER,
    ...changes,
  };
}

export function serverOf(port: number, changes: Partial<ServerConfig> = {}): ServerConfig {
  return { key: String(port), host: LOCAL, port, weight: 1, ...changes };
}

export function groupOf(
  servers: readonly ServerConfig[],
  changes: Partial<GroupConfig> = {},
): GroupConfig {
  return {
    key: "web",
    method: "round-robin",
    healthCheck: NO_CHECK,
    slowStartMs: 0,
    servers,
    ...changes,
  };
}

/** One listener before one group of servers. */
export function configOf(
  ports: readonly number[],
  changes: {
    readonly listener?: Partial<ListenerConfig>;
    readonly group?: Partial<GroupConfig>;
    readonly affinitySeconds?: number;
  } = {},
): EngineConfig {
  return {
    ...EMPTY_ENGINE_CONFIG,
    listeners: [listenerOf(changes.listener)],
    upstreams: [
      {
        key: "web",
        groups: [{ group: "web", weight: 1, hints: NO_HINTS }],
        affinitySeconds: changes.affinitySeconds ?? 0,
      },
    ],
    groups: [
      groupOf(
        ports.map((port) => serverOf(port)),
        changes.group,
      ),
    ],
  };
}
