import { connect, createServer } from "node:net";
import { CoreError } from "../../core/errors.ts";

export interface InstanceLock {
  /** Lets the next one in; the end of the process does it too. */
  release(): Promise<void>;
}

const ASK_MS = 1000;

/** The pipe of one instance of a backend on this machine. */
export function lockPath(backend: string): string {
  return `\\\\.\\pipe\\portolan-${backend}`;
}

/**
 * One instance on a machine, held as a named pipe on which it tells its pid; Windows frees it however the
 * process ends.
 * @param path of the pipe
 * @throws CoreError ERR_NOT_POSSIBLE_HERE with the pid of the one that holds it
 */
export async function takeInstanceLock(backend: string, path: string): Promise<InstanceLock> {
  // Windows refuses a second server of one pipe; Wine does not, so who answers is asked first.
  const holder = await holderOf(path);
  if (holder !== undefined) throw refusal(backend, holder);
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end(String(process.pid));
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
  } catch (error) {
    throw refusal(backend, (await holderOf(path)) ?? "a process that does not tell its pid", error);
  }
  server.unref();
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

function refusal(backend: string, holder: string, cause?: unknown): CoreError {
  return new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    `the backend "${backend}" is run on this machine already, by ${holder}; stop that one first`,
    { cause },
  );
}

/** Undefined where nobody answers. */
function holderOf(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let told = "";
    const socket = connect(path).setEncoding("utf8").setTimeout(ASK_MS);
    const end = (): void => {
      socket.destroy();
      resolve(/^\d+$/.test(told) ? `pid ${told}` : undefined);
    };
    socket.on("data", (text) => {
      told += String(text);
    });
    socket.on("end", end).on("error", end).on("timeout", end);
  });
}
