import { readFile } from "node:fs/promises";
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type ServerHttp2Session,
} from "node:http2";
import { CoreError, messageOf } from "../core/errors.ts";
import { formatListenAddress, type ListenAddress } from "../core/options/listen-address.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import { keepAlive } from "../platform/http2/keep-alive.ts";
import { ApiCalls } from "./api-calls.ts";
import { type Caller, callerOf, type IssuedTls } from "./api-gate.ts";
import {
  type ApiServerOptions,
  type ApiServerTls,
  apiServerSettings,
} from "./api-server-options.ts";
import { removeStaleSocket, restrictSocket } from "./unix-socket.ts";

const MAX_CALLS_A_CONNECTION = 100;
const TLS_HANDSHAKE_TIMEOUT_MS = 10_000;
const HTTP2_SETTINGS = { settings: { maxConcurrentStreams: MAX_CALLS_A_CONNECTION } };

export interface ApiServerStats {
  readonly connections: number;
  /** Calls under way; each is a watcher. */
  readonly watchers: number;
  readonly changesSent: number;
  readonly messagesSent: number;
}

export interface ApiServer {
  /** Where it listens, with the port that it got. */
  readonly address: ListenAddress;
  stats(): ApiServerStats;
  /** Ends all calls with UNAVAILABLE and stops listening. May be called more than once. */
  close(): Promise<void>;
}

/**
 * Serves the store to clients of the gRPC API.
 * @throws CoreError ERR_LISTEN, or ERR_CONFIG_INVALID where a TLS file can not be used
 */
export async function createApiServer(
  store: GlobalStore,
  options: ApiServerOptions,
): Promise<ApiServer> {
  const settings = apiServerSettings(options);
  const { log } = options;
  const calls = new ApiCalls(store, settings, options);
  const server = await openServer(options.tls);
  const sessions = new Set<ServerHttp2Session>();
  server.maxConnections = settings.maxConnections;
  server.on("session", (session: ServerHttp2Session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", (error) => log?.debug({ err: error }, "API connection failed"));
    keepAlive(session, settings.keepAlive);
  });
  server.on("tlsClientError", (error: Error) =>
    log?.warn({ err: error }, "API client refused: the TLS handshake failed"),
  );
  const isUnix = options.listen.kind === "unix";
  const callers = new WeakMap<object, Caller>();
  server.on("stream", (stream, headers) => {
    const { session } = stream;
    if (session === undefined) return;
    const caller = callers.get(session) ?? callerOf(session, isUnix, clientAuthority(options.tls));
    callers.set(session, caller);
    calls.accept(stream, headers, caller);
  });
  const address = await listen(server, options.listen);
  server.on("error", (error) => log?.error({ err: error }, "API can not take a connection"));

  const shutDown = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    calls.endAll();
    for (const session of sessions) session.close();
    const deadline = setTimeout(() => {
      for (const session of sessions) session.destroy();
    }, settings.closeTimeoutMs);
    await closed;
    clearTimeout(deadline);
  };
  let closing: Promise<void> | undefined;
  return {
    address,
    stats: () => ({ connections: sessions.size, ...calls.stats }),
    close: () => {
      closing ??= shutDown();
      return closing;
    },
  };
}

/** Of a server that makes certificates itself, and can make new ones in place of those that are overdue. */
function clientAuthority(tls: ApiServerTls | IssuedTls | undefined): string | undefined {
  return tls !== undefined && "current" in tls ? tls.current().ca : undefined;
}

async function openServer(
  tls: ApiServerTls | IssuedTls | undefined,
): Promise<Http2Server | Http2SecureServer> {
  if (tls === undefined) return createServer(HTTP2_SETTINGS);
  if ("current" in tls) return openIssued(tls);
  const [cert, key, ca] = await Promise.all(
    [tls.certFile, tls.keyFile, tls.clientCaFile].map(readPem),
  );
  try {
    return createSecureServer({
      ...HTTP2_SETTINGS,
      cert,
      key,
      ca,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: "TLSv1.2",
      handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
    });
  } catch (error) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `TLS of the API: ${tls.certFile}, ${tls.keyFile}, ${tls.clientCaFile}: ${messageOf(error)}; expected a certificate, its key and the clients' authorities, in PEM`,
      { cause: error },
    );
  }
}

function openIssued(tls: IssuedTls): Http2SecureServer {
  const server = createSecureServer({
    ...HTTP2_SETTINGS,
    ...tls.current(),
    requestCert: true,
    // Who joins has no certificate yet.
    rejectUnauthorized: false,
    minVersion: "TLSv1.2",
    handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
  });
  tls.onRenewed(() => server.setSecureContext(tls.current()));
  return server;
}

async function readPem(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new CoreError("ERR_CONFIG_INVALID", `TLS of the API: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function listen(
  server: Http2Server | Http2SecureServer,
  wanted: ListenAddress,
): Promise<ListenAddress> {
  if (wanted.kind === "unix") await removeStaleSocket(wanted.path);
  await new Promise<void>((resolve, reject) => {
    const failed = (error: Error): void =>
      reject(
        new CoreError(
          "ERR_LISTEN",
          `the API can not listen on ${formatListenAddress(wanted)}: ${error.message}`,
          { cause: error },
        ),
      );
    server.once("error", failed);
    server.listen(wanted.kind === "unix" ? { path: wanted.path } : wanted, () => {
      server.off("error", failed);
      resolve();
    });
  });
  if (wanted.kind === "unix") {
    await restrictSocket(wanted.path);
    return wanted;
  }
  const bound = server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : wanted.port;
  return { ...wanted, port };
}
