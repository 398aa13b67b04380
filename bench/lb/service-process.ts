import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A server in a process of its own. */
export interface ServiceProcess {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

const HOST = "127.0.0.1";
const START_TIMEOUT_MS = 20_000;
const RETRY_MS = 50;
const STOP_TIMEOUT_MS = 3000;

/** Starts a program and waits until it answers on its port. */
export async function startService(
  command: readonly string[],
  port: number,
  answers: (port: number) => Promise<boolean> = answersHttp,
): Promise<ServiceProcess> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const failed = new Promise<never>((_, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`${program} ended with ${code}: ${stderr}`)));
  });
  failed.catch(() => undefined);
  await Promise.race([untilAnswered(port, answers), failed]);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} has no pid`);
  return { pid, port, stop: () => stop(child) };
}

/** A port that nobody has at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

async function untilAnswered(
  port: number,
  answers: (port: number) => Promise<boolean>,
): Promise<void> {
  const endMs = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < endMs) {
    if (await answers(port)) return;
    await sleep(RETRY_MS);
  }
  throw new Error(`nobody answers on port ${port} after ${START_TIMEOUT_MS} ms`);
}

/** Whether an HTTP request is answered, which also says that there are servers behind a proxy. */
function answersHttp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST, () => socket.write("GET /small HTTP/1.0\r\n\r\n"));
    const end = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.on("data", () => end(true));
    socket.on("error", () => end(false));
    socket.on("close", () => end(false));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(late);
}
