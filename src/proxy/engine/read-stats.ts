import type { SocketAddress } from "../../platform/socket-address.ts";
import type { EngineConfig, GroupConfig, ListenerConfig, ServerConfig } from "../engine-config.ts";
import type {
  EngineStats,
  GroupStats,
  ListenerStats,
  ServerCounts,
  ServerStats,
} from "../engine-stats.ts";
import type { CounterBlocks } from "../stats/counter-blocks.ts";
import type { EngineState, GroupState } from "./engine-state.ts";
import { type MemberHealth, UNCHECKED } from "./health-board.ts";

export interface StatsParts {
  readonly config: EngineConfig;
  readonly state: EngineState;
  readonly blocks: CounterBlocks;
  readonly addressOf: (listener: ListenerConfig) => SocketAddress | undefined;
  readonly healthOf: (group: string, server: string) => MemberHealth;
}

/** Sums up what all loops have counted. What the loops do not do (yet) is left out. */
export function readStats(parts: StatsParts): Omit<EngineStats, "loops"> {
  const { config, state } = parts;
  return {
    listeners: config.listeners.flatMap((listener) => {
      const row = state.listeners.get(listener.key)?.row;
      return row === undefined ? [] : [readListener(listener, row, parts)];
    }),
    groups: config.groups.flatMap((group) => {
      const known = state.groups.get(group.key);
      return known === undefined ? [] : [readGroup(group, known, parts)];
    }),
  };
}

function readListener(
  listener: ListenerConfig,
  row: number,
  { blocks, addressOf }: StatsParts,
): ListenerStats {
  const address = addressOf(listener) ?? listener.address;
  return { key: listener.key, address, ...blocks.counts(row) };
}

function readGroup(group: GroupConfig, known: GroupState, parts: StatsParts): GroupStats {
  const { key, healthCheck } = group;
  const healthOf =
    healthCheck.protocol === "none" ? () => UNCHECKED : (id: string) => parts.healthOf(key, id);
  return {
    key,
    ...parts.blocks.counts(known.row),
    servers: group.servers.flatMap((server) => {
      const row = known.servers.get(server.key)?.row;
      return row === undefined ? [] : [readServer(server, row, healthOf(server.key), parts)];
    }),
  };
}

function readServer(
  { key, host, port }: ServerConfig,
  row: number,
  health: MemberHealth,
  { blocks }: StatsParts,
): ServerStats {
  return { key, host, port, ...readServerCounts(row, health, blocks) };
}

export function readServerCounts(
  row: number,
  health: MemberHealth,
  blocks: CounterBlocks,
): ServerCounts {
  const counted = { ...blocks.counts(row), checks: blocks.checks(row) };
  return { ...health, ...counted, latency: blocks.latency(row) };
}
