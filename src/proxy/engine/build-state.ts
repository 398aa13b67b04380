import { familyOf } from "../../core/model/address.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import type {
  CertificateConfig,
  EngineConfig,
  GroupConfig,
  ListenerConfig,
} from "../engine-config.ts";
import type { EngineState, GroupState, ServerState } from "./engine-state.ts";

export interface StateParts {
  /** The row of the counters of that owner. */
  readonly rowOf: (owner: string) => number;
  /** An address or path is its own. */
  readonly addressesOf: (host: string) => readonly string[];
  /** The loops that a listener hands its connections to; none: it keeps them. */
  readonly workersOf: (listener: ListenerConfig) => readonly string[];
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
        {
          row: parts.rowOf(ownerOf.listener(listener.key)),
          config: listener,
          workers: parts.workersOf(listener),
          certificates: certificatesOf(listener, config),
        },
      ]),
    ),
  };
}

/** A certificate that is not there is left out. */
function certificatesOf(
  { tls }: ListenerConfig,
  { certificates }: EngineConfig,
): readonly CertificateConfig[] {
  const wanted = tls?.certificates ?? [];
  return wanted.flatMap((key) => certificates.filter((one) => one.key === key));
}

function buildGroup(
  { key, method, healthCheck, slowStartMs, transport = "tcp", tls, servers }: GroupConfig,
  parts: StateParts,
): GroupState {
  const { rowOf, addressesOf } = parts;
  const states = servers.map(({ key: id, host, port, weight, families }): [string, ServerState] => {
    const all = addressesOf(host);
    const addresses = families ? all.filter((ip) => families.includes(familyOf(ip))) : all;
    return [id, { row: rowOf(ownerOf.server(key, id)), spec: { id, port, weight, addresses } }];
  });
  return {
    row: rowOf(ownerOf.group(key)),
    method,
    healthCheck,
    slowStartMs,
    transport,
    tls,
    servers: new Map(states),
  };
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

/** Why a listener can not be had; undefined where it can. */
export function problemOf({ key, mode, address, tls }: ListenerConfig): string | undefined {
  const isPath = address.family === "unix";
  const needsIp = mode === "udp" || mode === "dns";
  if (needsIp && tls !== undefined) return `listener ${key}: TLS is not for mode ${mode}`;
  // DNS has two sockets, which shall have the same port.
  const isAnyPort = mode === "dns" && !isPath && address.port === 0;
  if (!(needsIp && isPath) && !isAnyPort) return undefined;
  return `listener ${key}: ${formatSocketAddress(address)} can not be listened on in mode ${mode}; expected an IP address and a port`;
}
