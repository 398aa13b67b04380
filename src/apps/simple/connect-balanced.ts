import { connect, Socket } from "node:net";
import { CoreError, messageOf } from "../../core/errors.ts";
import { formatPlace } from "../../core/model/socket-path.ts";
import { type Server, serverKey } from "../../proxy/balance/server.ts";
import type { BalancedServers, TakenServer } from "./balanced-servers.ts";

export interface ConnectOptions {
  /** For one server; 5 s by default. */
  readonly timeoutMs?: number;
  /** Whom the method `source-hash` keeps with one server. */
  readonly client?: string;
}

/** What `createConnection` of a `node:http` agent is. */
export type CreateConnection = (
  options: object,
  callback?: (error: Error | null, socket: Socket) => void,
) => undefined;

const TIMEOUT_MS = 5000;

/**
 * A socket that is connected to the server whose turn it is; those that can not be reached are passed
 * over. It counts as a connection of its server until it is closed.
 * @throws CoreError ERR_NO_SERVER with what became of each
 */
export async function connectBalanced(
  servers: BalancedServers,
  { timeoutMs = TIMEOUT_MS, client = "" }: ConnectOptions = {},
): Promise<Socket> {
  const tried = new Set<string>();
  const failures: string[] = [];
  const isUntried = (server: Server): boolean => !tried.has(server.key);
  for (;;) {
    const taken = takeNext(servers, client, isUntried, failures);
    const { host, port } = taken;
    tried.add(serverKey(host, port));
    try {
      return await connectTo(taken, timeoutMs);
    } catch (error) {
      taken.done(error);
      failures.push(`${formatPlace(host, port)}: ${messageOf(error)}`);
    }
  }
}

/** A function that agents of `node:http` call for a connection. */
export function createConnectionOf(
  servers: BalancedServers,
  options?: ConnectOptions,
): CreateConnection {
  return (_options, callback) => {
    connectBalanced(servers, options).then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, new Socket()),
    );
    return undefined;
  };
}

function takeNext(
  servers: BalancedServers,
  client: string,
  isWanted: (server: Server) => boolean,
  failures: readonly string[],
): TakenServer {
  try {
    return servers.take(client, isWanted);
  } catch (error) {
    if (failures.length === 0) throw error;
    const message = `no server could be reached: ${failures.join(", ")}`;
    throw new CoreError("ERR_NO_SERVER", message, { cause: error });
  }
}

function connectTo(taken: TakenServer, timeoutMs: number): Promise<Socket> {
  const { host, port } = taken;
  const socket = host.startsWith("/") ? connect({ path: host }) : connect({ host, port });
  return new Promise((resolve, reject) => {
    const late = new Error(`no answer within ${timeoutMs} ms`);
    const timer = setTimeout(() => socket.destroy(late), timeoutMs);
    socket.once("error", reject);
    socket.once("close", () => clearTimeout(timer));
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.off("error", reject);
      socket.once("close", () => taken.done());
      resolve(socket);
    });
  });
}
