import { formatPlace } from "../../core/model/socket-path.ts";
import type { MemberHealth } from "../../proxy/engine/health-board.ts";
import type { ServerConfig } from "../../proxy/engine-config.ts";
import type { ServerCounts } from "../../proxy/engine-stats.ts";
import type { ServerState } from "../plane-control.ts";
import { joinHealth } from "./endpoint-health.ts";
import type { EndpointPlace } from "./endpoint-places.ts";

/**
 * What was counted of an endpoint, summed up over all groups that it is in; undefined where it is in none.
 * @param countsOf undefined where the engine does not have it (yet)
 */
export function serverState(
  endpoint: string,
  places: readonly EndpointPlace[],
  countsOf: (group: string, server: string) => ServerCounts | undefined,
): ServerState | undefined {
  const counts = places.flatMap(({ group, server }) => countsOf(group, server.key) ?? []);
  const [first] = places;
  if (first === undefined) return undefined;
  const sum = (count: (server: ServerCounts) => number): number =>
    counts.reduce((total, server) => total + count(server), 0);
  const { health, reason } = joinHealth(counts);
  const calls = sum(({ latency }) => latency.counts.reduce((total, count) => total + count, 0));
  return {
    server: endpoint,
    address: addressOf(first.server),
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

function addressOf({ host, port }: ServerConfig): string {
  return formatPlace(host, port);
}
