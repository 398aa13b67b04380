import process from "node:process";
import type { InnerPlane } from "../../backends/backend.ts";
import type { EnginePort, ServerState, TrafficTotals } from "../../control/engine-port.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import type { Listener } from "../../core/model/listener.ts";
import { keyOf } from "../../core/model/object.ts";
import { formatPlace, isSocketPath } from "../../core/model/socket-path.ts";
import type { StatusBoard } from "../../core/status/status-board.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import type { GroupState } from "../../core/store/state.ts";
import type {
  GroupStatus,
  InstanceStatus,
  ListenerStatus,
  ServerStatus,
} from "../instance-socket/status-protocol.ts";
import type { LiveParts } from "./live-parts.ts";
import { readHealth } from "./read-health.ts";

export interface StatusParts {
  readonly node: string;
  readonly version: string;
  readonly board: StatusBoard;
  readonly live: LiveParts;
  readonly nowMs: () => number;
  /** By the names of their backends. */
  readonly planes: ReadonlyMap<string, InnerPlane>;
}

/** Nobody reads more of them, and they are sent each second to `top`. */
const MAX_SERVERS = 5000;
const MS_PER_SECOND = 1000;
const MICROSECONDS = 1_000_000;

const NO_TRAFFIC: TrafficTotals = {
  connections: 0,
  totalConnections: 0,
  bytesIn: 0,
  bytesOut: 0,
  failures: 0,
};

export async function readStatus(parts: StatusParts): Promise<InstanceStatus> {
  const { node, version, board, live } = parts;
  const { ready, reasons } = readHealth(board);
  const { store, control } = live;
  const engine = engineIn(parts.planes);
  const { user, system } = process.cpuUsage();
  return {
    version,
    pid: process.pid,
    node,
    ready,
    reasons,
    components: board.components().map(({ kind, name, health, message, notHonoured }) => ({
      kind,
      name,
      health,
      message,
      notHonoured,
      ...(kind === "backend" && { always: live.always?.get(name) ?? 0 }),
      ...(kind === "source" && { details: live.sourceDetails?.(name) }),
    })),
    loopGroups: await readLoopGroups(parts),
    uptimeSeconds: Math.round((parts.nowMs() - live.startedMs) / MS_PER_SECOND),
    revision: store?.revision ?? 0,
    process: {
      cpuSeconds: (user + system) / MICROSECONDS,
      memoryBytes: process.memoryUsage.rss(),
    },
    listeners: store === undefined ? [] : listenersOf(store, parts, engine),
    ...groupsOf(store, engine),
    controllers: control?.world.controllers.list() ?? [],
    journal:
      control === undefined ? null : { path: control.journal.path, bytes: control.journal.bytes },
  };
}

/** The data plane in this process that counts, whether or not commands may look into it. */
function engineIn(planes: StatusParts["planes"]): EnginePort | undefined {
  return [...planes.values()].find((plane) => plane.control !== undefined)?.control;
}

async function readLoopGroups({ planes }: StatusParts): Promise<InstanceStatus["loopGroups"]> {
  const ofEach = [...planes].map(async ([backend, plane]) =>
    (await plane.loopGroups()).map((group) => ({ backend, ...group })),
  );
  return (await Promise.all(ofEach)).flat();
}

function listenersOf(
  store: GlobalStore,
  { node, live }: StatusParts,
  engine: EnginePort | undefined,
): readonly ListenerStatus[] {
  const closed = new Map(
    (live.unserved?.() ?? []).flatMap(({ listener, reason, isClosed }) =>
      isClosed === true ? [[listener, reason] as const] : [],
    ),
  );
  const totals = engine?.listenerTotals();
  const own = [...store.state().listeners].filter(
    ([, listener]) => listener.node === "" || listener.node === node,
  );
  return own.sort(byKey).map(([key, listener]) => ({
    key,
    owner: store.ownerOf("Listener", key) ?? "",
    mode: listener.mode,
    address: addressOf(listener),
    service: listener.service,
    ...(closed.has(key) && { problem: closed.get(key) }),
    ...(totals?.get(key) ?? NO_TRAFFIC),
  }));
}

function addressOf({ address, port }: Listener): string {
  return formatPlace(address, port);
}

/** Only an engine in this process knows how servers are. */
function groupsOf(
  store: GlobalStore | undefined,
  engine: EnginePort | undefined,
): Pick<InstanceStatus, "groups" | "groupsLeftOut"> {
  if (store === undefined || engine === undefined) return { groups: [], groupsLeftOut: 0 };
  const states = engine.servers();
  const all = [...store.state().groups].sort(byKey);
  const groups: GroupStatus[] = [];
  let servers = 0;
  for (const [, state] of all) {
    servers += state.endpoints.length;
    if (servers > MAX_SERVERS) break;
    groups.push(groupOf(store, state, states));
  }
  return { groups, groupsLeftOut: all.length - groups.length };
}

function groupOf(
  store: GlobalStore,
  { key, group, endpoints }: GroupState,
  states: ReadonlyMap<string, ServerState>,
): GroupStatus {
  return {
    key,
    owner: store.ownerOf("Group", key) ?? "",
    method: group?.method ?? "",
    servers: endpoints.map((endpoint) => serverOf(store, endpoint, states)),
  };
}

function serverOf(
  store: GlobalStore,
  endpoint: Endpoint,
  states: ReadonlyMap<string, ServerState>,
): ServerStatus {
  const key = keyOf(endpoint);
  const { server: _, meanLatencyMs, ...state } = states.get(key) ?? unused(endpoint);
  return {
    key,
    name: endpoint.name,
    owner: store.ownerOf("Endpoint", key) ?? "",
    weight: endpoint.weight,
    ...state,
    meanLatencyMs: meanLatencyMs ?? null,
  };
}

function unused(endpoint: Endpoint): ServerState {
  const host = endpoint.addresses[0] ?? endpoint.hostName;
  const port = isSocketPath(host) ? 0 : endpoint.ports[0]?.port;
  return {
    ...NO_TRAFFIC,
    server: "",
    address: port === undefined ? host : formatPlace(host, port),
    health: "unused",
    reason: "",
    meanLatencyMs: undefined,
  };
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
