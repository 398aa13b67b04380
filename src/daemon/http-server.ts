import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { CoreError, messageOf } from "../core/errors.ts";
import { formatListenAddress, type ListenAddress } from "../core/options/listen-address.ts";

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** What is served, by path. */
export type Routes = ReadonlyMap<string, () => Answer | Promise<Answer>>;

export interface HttpServer {
  /** Where it listens; with the port that was found where 0 was asked for. */
  readonly address: ListenAddress;
  close(): Promise<void>;
}

const SERVER_NAME = "portolan";
const HEADERS_TIMEOUT_MS = 5000;

/** Serves a few pages for machines: GET and HEAD only. */
export async function startHttpServer(address: ListenAddress, routes: Routes): Promise<HttpServer> {
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS }, (request, response) => {
    void answer(request, routes).then((result) => write(response, request, result));
  });
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: Error): void => {
      const where = formatListenAddress(address);
      reject(
        new CoreError("ERR_LISTEN", `can not listen on ${where}: ${cause.message}`, { cause }),
      );
    };
    server.once("error", fail);
    const listening = (): void => {
      server.off("error", fail);
      resolve();
    };
    if (address.kind === "unix") server.listen(address.path, listening);
    else server.listen(address.port, address.host, listening);
  });
  const bound = server.address();
  return {
    address:
      address.kind === "tcp" && typeof bound === "object" && bound !== null
        ? { ...address, port: bound.port }
        : address,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, routes: Routes): Promise<Answer> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return text(405, "only GET and HEAD\n");
  }
  const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
  const route = routes.get(path);
  if (route === undefined)
    return text(404, `no such page; here: ${[...routes.keys()].join(" ")}\n`);
  try {
    return await route();
  } catch (error) {
    return text(500, `${messageOf(error)}\n`);
  }
}

function text(status: number, body: string): Answer {
  return { status, contentType: "text/plain; charset=utf-8", body };
}

function write(response: ServerResponse, request: IncomingMessage, result: Answer): void {
  response.writeHead(result.status, {
    "content-type": result.contentType,
    "content-length": Buffer.byteLength(result.body),
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    // A kube-proxy, which has some of these pages, does not say who it is.
    server: SERVER_NAME,
  });
  response.end(request.method === "HEAD" ? undefined : result.body);
}
