import { rmSync, unlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { dirname } from "node:path";
import { CoreError } from "../../core/errors.ts";
import { callInstance } from "./client.ts";
import {
  INSTANCE_REQUESTS,
  INSTANCE_VERSION,
  type InstanceRequests,
  isRequestName,
  type Refusal,
  type RequestName,
} from "./protocol.ts";
import { SocketFile } from "./socket-file.ts";

/** Who answers; one for each request. */
export type InstanceHandlers = {
  readonly [N in RequestName]: (
    params: InstanceRequests[N]["params"],
  ) => Promise<InstanceRequests[N]["result"]> | InstanceRequests[N]["result"];
};

export interface InstanceServerOptions {
  readonly path: string;
  readonly pid: number;
  /** It takes the place of the process that listens there. */
  readonly replaces: boolean;
  readonly handlers: InstanceHandlers;
}

export interface InstanceServer {
  /** The file stays where another process has taken its place. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1_048_576;
const OWNER_ONLY_FOLDER = 0o700;
const STATUS = { ok: 200, badRequest: 400, notFound: 404, failed: 500 } as const;

/**
 * Listens for requests of the same user's processes. A file that a dead process left is replaced.
 * @throws CoreError ERR_INSTANCE, with the pid, where another instance listens there
 */
export async function startInstanceServer(options: InstanceServerOptions): Promise<InstanceServer> {
  const { path, pid, replaces, handlers } = options;
  await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER });
  const file = new SocketFile(path, pid);
  const server = createServer((request, response) => {
    void answer(request, handlers).then(({ status, body }) => write(response, status, body));
  });
  // One of the same pid may have died between binding and publishing.
  rmSync(file.boundPath, { force: true });
  await listen(server, file.boundPath);
  const close = async (): Promise<void> => {
    file.remove();
    await closeServer(server);
  };
  try {
    if (!file.publish({ replaces })) {
      await removeStale(path);
      if (!file.publish({ replaces })) throw taken(path, "another process");
    }
  } catch (error) {
    await closeServer(server);
    throw error;
  }
  return { close };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => {
      const message = `can not listen on ${path}: ${cause.message}; choose another folder with --state`;
      reject(new CoreError("ERR_LISTEN", message, { cause }));
    });
    server.listen(path, resolve);
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Removes a socket that nobody answers at. */
async function removeStale(path: string): Promise<void> {
  const holder = await callInstance(path, "status", {}).then(
    ({ pid }) => `the instance with pid ${pid}`,
    (error: unknown) => (isRefused(error) ? undefined : "a process that does not answer"),
  );
  if (holder !== undefined) throw taken(path, holder);
  unlinkSync(path);
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}

function taken(path: string, holder: string): CoreError {
  return new CoreError(
    "ERR_INSTANCE",
    `--state: ${dirname(path)} is that of ${holder}; give another folder, or --take-over to take its place`,
  );
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function answer(request: IncomingMessage, handlers: InstanceHandlers): Promise<Answer> {
  try {
    const name = requestName(request);
    if (name === undefined) {
      const known = Object.keys(INSTANCE_REQUESTS).map((one) => `/v${INSTANCE_VERSION}/${one}`);
      const message = `${request.method} ${request.url} is not known; expected POST to one of ${known.join(", ")}`;
      return refused(STATUS.notFound, { code: "ERR_NOT_FOUND", message });
    }
    return await handle(name, await readBody(request), handlers);
  } catch (error) {
    const code = error instanceof CoreError ? error.code : "ERR_INSTANCE";
    const message = error instanceof Error ? error.message : String(error);
    return refused(STATUS.failed, { code, message });
  }
}

async function handle<N extends RequestName>(
  name: N,
  body: string,
  handlers: InstanceHandlers,
): Promise<Answer> {
  const raw = parseBody(body);
  if (raw === undefined) {
    const message = `${name}: the body is not valid; expected a JSON object`;
    return refused(STATUS.badRequest, { code: "ERR_USAGE", message });
  }
  const params = INSTANCE_REQUESTS[name].params.safeParse(raw);
  if (params.success) return { status: STATUS.ok, body: await handlers[name](params.data) };
  const problems = params.error.issues.map(
    ({ path, message }) => `${name}: ${path.join(".")}: ${message}`,
  );
  return refused(STATUS.badRequest, { code: "ERR_USAGE", message: problems.join("\n") });
}

/** Undefined where it is no JSON. An empty one asks for nothing in particular. */
function parseBody(body: string): unknown {
  try {
    return JSON.parse(body === "" ? "{}" : body);
  } catch {
    return undefined;
  }
}

function requestName({ method, url }: IncomingMessage): RequestName | undefined {
  const prefix = `/v${INSTANCE_VERSION}/`;
  if (method !== "POST" || url?.startsWith(prefix) !== true) return undefined;
  const name = url.slice(prefix.length);
  return isRequestName(name) ? name : undefined;
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += String(chunk);
    if (body.length > MAX_BODY_BYTES) {
      throw new CoreError("ERR_USAGE", `a request has at most ${MAX_BODY_BYTES} bytes`);
    }
  }
  return body;
}

function refused(status: number, refusal: Refusal): Answer {
  return { status, body: refusal };
}

function write(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}
