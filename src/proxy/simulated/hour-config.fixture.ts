import { BALANCING_METHODS, type HealthCheck } from "../../core/model/group.ts";
import { NO_HINTS } from "../../core/model/route-hints.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { EngineConfig, GroupConfig, ListenerConfig } from "../engine-config.ts";
import { PROXY_IP, simulatedConfig, UNCHECKED } from "../loop/simulated-proxy.fixture.ts";
import { SERVER_PORTS } from "./simulated-servers.fixture.ts";

export const LISTENER_PORTS = { tcp: 8080, http: 8081, udp: 8082, socks5: 8083 } as const;

const LISTENERS = [
  { mode: "tcp", group: "tcp" },
  { mode: "http", group: "http" },
  { mode: "udp", group: "udp" },
  { mode: "socks5", group: "tcp" },
] as const;

const CHECKS: Readonly<Record<GroupConfig["key"], HealthCheck>> = {
  tcp: { ...UNCHECKED, protocol: "tcp" },
  http: { ...UNCHECKED, protocol: "http" },
  udp: UNCHECKED,
};

/** Listeners of four kinds before groups of three, with those servers, and the rest by chance. */
export function hourConfig(ips: readonly string[], random: () => number): EngineConfig {
  const pick = <T>(values: readonly [T, ...T[]]): T =>
    values[Math.floor(random() * values.length)] ?? values[0];
  const [base] = simulatedConfig([]).listeners;
  if (base === undefined) throw new Error("a configuration has a listener");
  const listener = (mode: keyof typeof LISTENER_PORTS, upstream: string): ListenerConfig => ({
    ...base,
    key: mode,
    mode,
    upstream,
    address: ipAddress(PROXY_IP, LISTENER_PORTS[mode]),
    idleTimeoutMs: pick([20_000, 60_000]),
    connectTimeoutMs: pick([1000, 5000]),
    inBufferBytes: pick([2048, 16_384]),
  });
  const group = (key: keyof typeof SERVER_PORTS): GroupConfig => ({
    key,
    method: pick([...BALANCING_METHODS, "round-robin"]) ?? "round-robin",
    healthCheck: CHECKS[key] ?? UNCHECKED,
    slowStartMs: pick([0, 5000]),
    servers: ips.map((ip) => ({
      key: ip,
      host: ip,
      port: SERVER_PORTS[key],
      weight: pick([1, 2, 5]),
    })),
  });
  return {
    listeners: LISTENERS.map(({ mode, group: upstream }) => listener(mode, upstream)),
    upstreams: (["tcp", "http", "udp"] as const).map((key) => ({
      key,
      groups: [{ group: key, weight: 1, hints: NO_HINTS }],
      affinitySeconds: pick([0, 30]),
    })),
    groups: [group("tcp"), group("http"), group("udp")],
    certificates: [],
  };
}
