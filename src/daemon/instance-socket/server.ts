import { rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { dirname } from "node:path";
import process from "node:process";
import { CoreError } from "../../core/errors.ts";
import { answerRequest, type InstanceHandlers } from "./answer.ts";
import { callInstance } from "./client.ts";
import { socketAddress } from "./socket-address.ts";
import { SocketFile } from "./socket-file.ts";

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

const OWNER_ONLY_FOLDER = 0o700;

/**
 * Listens for requests of the same user's processes. A file that a dead process left is replaced.
 * @throws CoreError ERR_INSTANCE, with the pid, where another instance listens there
 */
export async function startInstanceServer(options: InstanceServerOptions): Promise<InstanceServer> {
  const { path, pid, replaces, handlers } = options;
  await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER });
  const server = createServer((request, response) => {
    void answerRequest(request, response, handlers);
  });
  if (process.platform === "win32") return servePipe(server, path);
  const file = new SocketFile(path, pid);
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

/** Windows frees a pipe with the process that had it: there is nothing to replace or to remove. */
async function servePipe(server: Server, path: string): Promise<InstanceServer> {
  const holder = await holderOf(path);
  if (holder !== undefined) throw taken(path, holder);
  await listen(server, socketAddress(path));
  return { close: () => closeServer(server) };
}

/** Removes a socket that nobody answers at. */
async function removeStale(path: string): Promise<void> {
  const holder = await holderOf(path);
  if (holder !== undefined) throw taken(path, holder);
  rmSync(path, { force: true });
}

/** Undefined where nobody listens. */
function holderOf(path: string): Promise<string | undefined> {
  return callInstance(path, "status", {}).then(
    ({ pid }) => `the instance with pid ${pid}`,
    (error: unknown) => (isNobody(error) ? undefined : "a process that does not answer"),
  );
}

function isNobody(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return (
    cause instanceof Error &&
    "code" in cause &&
    (cause.code === "ECONNREFUSED" || cause.code === "ENOENT")
  );
}

function taken(path: string, holder: string): CoreError {
  return new CoreError(
    "ERR_INSTANCE",
    `--state: ${dirname(path)} is that of ${holder}; give another folder, or --take-over to take its place`,
  );
}
