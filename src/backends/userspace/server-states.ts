import { formatHostPort } from "../../core/model/address.ts";
import { formatSocketAddress, unixAddress } from "../../platform/socket-address.ts";
import type { MemberHealth } from "../../proxy/engine/health-board.ts";
import type { GroupStats, ServerStats } from "../../proxy/engine-stats.ts";
import type { ServerState } from "../plane-control.ts";
import { joinHealth } from "./endpoint-health.ts";
import { endpointOf } from "./endpoint-of.ts";

/** What was counted of endpoints, each summed up over all groups that it is in; by their keys. */
export function serverStates(groups: readonly GroupStats[]): ReadonlyMap<string, ServerState> {
  const parts = new Map<string, ServerStats[]>();
  for (const server of groups.flatMap(({ servers }) => servers)) {
    const endpoint = endpointOf(server.key);
    const known = parts.get(endpoint) ?? [];
    known.push(server);
    parts.set(endpoint, known);
  }
  return new Map([...parts].map(([endpoint, servers]) => [endpoint, stateOf(endpoint, servers)]));
}

function stateOf(endpoint: string, servers: readonly ServerStats[]): ServerState {
  const sum = (count: (server: ServerStats) => number): number =>
    servers.reduce((total, server) => total + count(server), 0);
  const { health, reason } = joinHealth(servers);
  const calls = sum(({ latency }) => latency.counts.reduce((total, count) => total + count, 0));
  return {
    server: endpoint,
    address: addressOf(servers[0]),
    health: HEALTH[health],
    reason,
    meanLatencyMs: calls === 0 ? undefined : sum(({ latency }) => latency.sumMs) / calls,
    connections: sum(({ connections }) => connections),
    totalConnections: sum(({ totalConnections }) => totalConnections),
    bytesIn: sum(({ bytesIn }) => bytesIn),
    bytesOut: sum(({ bytesOut }) => bytesOut),
    failures: sum(({ failures }) => failures),
  };
}

const HEALTH: Readonly<Record<MemberHealth["health"], ServerState["health"]>> = {
  up: "up",
  down: "down",
  starting: "unknown",
};

function addressOf(server: ServerStats | undefined): string {
  if (server === undefined) return "";
  const { host, port } = server;
  return host.startsWith("/") ? formatSocketAddress(unixAddress(host)) : formatHostPort(host, port);
}
