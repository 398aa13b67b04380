import type { ListenerMode } from "../../core/model/listener.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import type { EngineConfig, GroupConfig, ListenerConfig } from "../engine-config.ts";
import type { EngineState, GroupState, ServerState } from "./engine-state.ts";

export interface StateParts {
  /** The row of the counters of that owner. */
  readonly rowOf: (owner: string) => number;
  /** An address or path is its own. */
  readonly addressesOf: (host: string) => readonly string[];
}

/** Names the owners of rows. */
const ownerOf = {
  listener: (key: string): string => `listener ${key}`,
  group: (key: string): string => `group ${key}`,
  server: (group: string, key: string): string => `server ${group}\n${key}`,
};

/** What the loops are to be told of a configuration. */
export function buildState(config: EngineConfig, parts: StateParts): EngineState {
  return {
    groups: new Map(config.groups.map((group) => [group.key, buildGroup(group, parts)])),
    upstreams: new Map(config.upstreams.map((upstream) => [upstream.key, upstream])),
    listeners: new Map(
      config.listeners.map((listener) => [
        listener.key,
        { row: parts.rowOf(ownerOf.listener(listener.key)), config: listener },
      ]),
    ),
  };
}

function buildGroup(
  { key, method, healthCheck, servers }: GroupConfig,
  parts: StateParts,
): GroupState {
  const { rowOf, addressesOf } = parts;
  const states = servers.map(({ key: id, host, port, weight }): [string, ServerState] => [
    id,
    {
      row: rowOf(ownerOf.server(key, id)),
      spec: { id, port, weight, addresses: addressesOf(host) },
    },
  ]);
  return { row: rowOf(ownerOf.group(key)), method, healthCheck, servers: new Map(states) };
}

/** The owners of all rows that a state has. */
export function ownersOf({ listeners, groups }: EngineState): ReadonlySet<string> {
  const owners = new Set<string>();
  for (const key of listeners.keys()) owners.add(ownerOf.listener(key));
  for (const [key, { servers }] of groups) {
    owners.add(ownerOf.group(key));
    for (const id of servers.keys()) owners.add(ownerOf.server(key, id));
  }
  return owners;
}

const MODES: ReadonlySet<ListenerMode> = new Set<ListenerMode>(["tcp", "http", "udp", "socks5"]);

/** Why a listener can not be had in this version; undefined where it can. */
export function problemOf({ key, mode, address }: ListenerConfig): string | undefined {
  if (!MODES.has(mode)) {
    const known = [...MODES].join(", ");
    return `listener ${key}: mode "${mode}" is not available in this version; use one of ${known}`;
  }
  const isAnyPort = address.family !== "unix" && address.port === 0;
  if (mode !== "udp" || !(isAnyPort || address.family === "unix")) return undefined;
  return `listener ${key}: ${formatSocketAddress(address)} can not be listened on with UDP; expected an IP address and a port from 1 to 65535`;
}
