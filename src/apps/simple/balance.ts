import type { Socket } from "node:net";
import type { Log } from "../../core/log.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import type { Group } from "../../core/model/group.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { parseKind } from "../../core/model/parse.ts";
import type { OnServerHealth, ServerReport, TakenServer } from "./balanced-servers.ts";
import type { ConnectOptions, CreateConnection } from "./connect-balanced.ts";
import { readDescription } from "./read-description.ts";
import { refuseUnknownKeys } from "./refuse-unknown-keys.ts";
import { SILENT_LOG } from "./silent-log.ts";
import type { ServersDescription } from "./state-description.ts";
import type { UndiciInterceptor } from "./undici-interceptor.ts";

export interface BalanceOptions {
  /** Hears what happens; nobody by default. A `pino` logger is one. */
  readonly log?: Log;
}

/** Servers for a client of this process, chosen among by their health and load. */
export interface Balance {
  /**
   * A connected socket; servers that can not be reached are passed over.
   * @throws CoreError ERR_NO_SERVER with what became of each
   */
  connect(options?: ConnectOptions): Promise<Socket>;
  /** For `createConnection` of a `node:http` agent: a choice for each connection. */
  createConnection(options?: ConnectOptions): CreateConnection;
  /** For `compose` of an `undici` dispatcher (version 7 and later): a choice for each request. */
  interceptor(): UndiciInterceptor;
  /**
   * For any other client: the server whose turn it is. Call `done` when its connection or request is over.
   * @throws CoreError ERR_NO_SERVER
   */
  take(client?: string): TakenServer;
  list(): readonly ServerReport[];
  /** Calls `listener` whenever a server has gone up or down, until the result is called. */
  onHealth(listener: OnServerHealth): () => void;
  /** Other servers from now on, or none; those that stay keep their counts and their health. */
  replace(servers: ServersDescription["servers"]): Promise<void>;
  /** Ends the checks, which keep the process from ending; sockets go on. */
  close(): void;
}

const NAME = "servers";
/** What is of use here; a service has other words, which would be taken for heard: `tls` above all. */
const WORDS: readonly string[] = ["servers", "method", "healthCheck", "slowStart"];

/**
 * Balancing and health checks for one's own client.
 *
 *     const servers = await balance({ servers: ["10.0.0.1:80", "10.0.0.2:80"], healthCheck: "http" });
 *     const socket = await servers.connect();
 *
 * Settles when every server has been checked, or the time of one check is over.
 * @throws CoreError ERR_STATE_INVALID
 */
export async function balance(
  description: ServersDescription,
  { log = SILENT_LOG }: BalanceOptions = {},
): Promise<Balance> {
  const { group, endpoints } = readServers(description);
  const { BalancedServers } = await import("./balanced-servers.ts");
  const { connectBalanced, createConnectionOf } = await import("./connect-balanced.ts");
  const { undiciInterceptor } = await import("./undici-interceptor.ts");
  const { lookUp, sleepUnheld } = await import("../../proxy/engine/system-names.ts");
  const servers = new BalancedServers(group, { lookup: lookUp, sleep: sleepUnheld, log });
  await servers.replace(endpoints);
  await servers.judged(group.healthCheck.timeoutMs);
  return {
    connect: (options) => connectBalanced(servers, options),
    createConnection: (options) => createConnectionOf(servers, options),
    interceptor: () => undiciInterceptor(servers),
    take: (client) => servers.take(client),
    list: () => servers.list(),
    onHealth: (listener) => servers.onHealth(listener),
    replace: async (next = []) =>
      servers.replace(endpointsOf(readObjects({ ...description, servers: next }))),
    close: () => servers.close(),
  };
}

interface ReadServers {
  readonly group: Group;
  readonly endpoints: readonly Endpoint[];
}

function readServers(description: ServersDescription): ReadServers {
  const objects = readObjects(description);
  refuseUnknownKeys("ERR_STATE_INVALID", description, WORDS);
  const said = objects.find((object) => object.kind === "Group");
  return { group: said ?? parseKind("Group", { name: NAME }), endpoints: endpointsOf(objects) };
}

function readObjects(description: ServersDescription): readonly ModelObject[] {
  return readDescription({ services: { [NAME]: { ...description } } }, ["services", NAME]);
}

function endpointsOf(objects: readonly ModelObject[]): readonly Endpoint[] {
  return objects.filter((object) => object.kind === "Endpoint");
}
