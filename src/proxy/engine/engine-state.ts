import { deepEqual } from "../../core/model/equal.ts";
import type { BalancingMethod, HealthCheck } from "../../core/model/group.ts";
import type { MemberSpec } from "../balance/member.ts";
import type {
  CertificateConfig,
  DialTlsConfig,
  ListenerConfig,
  StreamTransport,
  UpstreamConfig,
} from "../engine-config.ts";
import type { Change } from "../loop/engine-messages.ts";
import { socketsOf } from "../loop/socket-id.ts";

export interface GroupState {
  readonly row: number;
  readonly method: BalancingMethod;
  readonly healthCheck: HealthCheck;
  readonly slowStartMs: number;
  readonly transport: StreamTransport;
  readonly tls: DialTlsConfig | undefined;
  readonly servers: ReadonlyMap<string, ServerState>;
}

export interface ServerState {
  readonly row: number;
  readonly spec: MemberSpec;
}

export interface ListenerState {
  readonly row: number;
  readonly config: ListenerConfig;
  /** Names of the loops that serve its connections; none: where they are accepted. */
  readonly workers: readonly string[];
  /** Those that its TLS names, in that order. */
  readonly certificates: readonly CertificateConfig[];
  /** It could not be changed, perhaps not in all loops: they will be told again. */
  readonly isStale?: true;
}

/** What the loops are told to do: the configuration with addresses for names, and rows for counters. */
export interface EngineState {
  readonly groups: ReadonlyMap<string, GroupState>;
  readonly upstreams: ReadonlyMap<string, UpstreamConfig>;
  readonly listeners: ReadonlyMap<string, ListenerState>;
}

export const EMPTY_STATE: EngineState = {
  groups: new Map(),
  upstreams: new Map(),
  listeners: new Map(),
};

/** In two parts: clients come and go between them. */
export interface StateChanges {
  /** Servers before those who send to them. */
  readonly puts: readonly Change[];
  /** In the opposite order. */
  readonly removals: readonly Change[];
}

/** Which addresses of a server are known to be up, by their keys. */
export type UpOf = (group: string, member: string) => readonly string[];

/** What to tell loops that do `before` so that they do `after`. */
export function planChanges(before: EngineState, after: EngineState, upOf: UpOf): StateChanges {
  const puts: Change[] = [];
  for (const [key, group] of after.groups) {
    const old = before.groups.get(key);
    if (old === group) continue;
    puts.push(...groupPuts(key, old, group, upOf));
  }
  for (const [key, config] of after.upstreams) {
    if (!deepEqual(before.upstreams.get(key), config)) puts.push({ kind: "upstream", config });
  }
  for (const [key, listener] of after.listeners) {
    if (deepEqual(before.listeners.get(key), listener)) continue;
    const { row, config, workers, certificates } = listener;
    puts.push({ kind: "listener", row, config, workers, certificates });
  }
  return { puts, removals: planRemovals(before, after) };
}

/** What comes of `after` where some listeners could not be changed: those go on as they are, where they are. */
export function keepListeners(
  before: EngineState,
  after: EngineState,
  keys: ReadonlySet<string>,
): EngineState {
  if (keys.size === 0) return after;
  const listeners = new Map(after.listeners);
  for (const key of keys) {
    const old = before.listeners.get(key);
    if (old === undefined) listeners.delete(key);
    else listeners.set(key, { ...old, isStale: true });
  }
  return { ...after, listeners };
}

function* groupPuts(
  key: string,
  old: GroupState | undefined,
  { row, method, healthCheck, slowStartMs, transport, tls, servers }: GroupState,
  upOf: UpOf,
): Iterable<Change> {
  const isSame =
    old?.method === method &&
    old.slowStartMs === slowStartMs &&
    old.transport === transport &&
    deepEqual(old.tls, tls) &&
    deepEqual(old.healthCheck, healthCheck);
  if (!isSame) yield { kind: "group", key, row, method, healthCheck, slowStartMs, transport, tls };
  for (const [id, server] of servers) {
    const known = old?.servers.get(id);
    if (known?.row === server.row && deepEqual(known.spec, server.spec)) continue;
    yield { kind: "server", group: key, row: server.row, spec: server.spec, up: upOf(key, id) };
  }
}

/** The removals among them. */
export function planRemovals(before: EngineState, after: EngineState): readonly Change[] {
  const removals: Change[] = [];
  const sockets = socketIdsOf(after);
  for (const socketId of socketIdsOf(before)) {
    if (!sockets.has(socketId)) removals.push({ kind: "socket-gone", socketId });
  }
  for (const key of before.upstreams.keys()) {
    if (!after.upstreams.has(key)) removals.push({ kind: "upstream-gone", key });
  }
  for (const [key, { servers }] of before.groups) {
    const kept = after.groups.get(key);
    if (kept === undefined) removals.push({ kind: "group-gone", key });
    else if (kept.servers !== servers) removals.push(...serverRemovals(key, servers, kept.servers));
  }
  return removals;
}

function socketIdsOf({ listeners }: EngineState): ReadonlySet<string> {
  return new Set(
    [...listeners.values()].flatMap(({ config }) => socketsOf(config).map(({ id }) => id)),
  );
}

function* serverRemovals(
  group: string,
  before: ReadonlyMap<string, ServerState>,
  after: ReadonlyMap<string, ServerState>,
): Iterable<Change> {
  for (const member of before.keys()) {
    if (!after.has(member)) yield { kind: "server-gone", group, member };
  }
}
