import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Worker } from "node:worker_threads";
import { onTestFinished } from "vitest";
import type { Log } from "../../src/core/log.ts";
import { startSourceWorker } from "../../src/net/threads/loop-thread.fixture.ts";
import { createEngine, type Engine } from "../../src/proxy/engine.ts";
import { LOCAL } from "./proxy-config.ts";

/** An engine whose loops run on threads, closed when the test has finished. */
export class TestEngine {
  readonly engine: Engine;
  readonly lines: string[];
  /** The threads of its loops, in the order they were started. */
  readonly workers: Worker[];
  readonly #onLine: Set<() => void>;

  private constructor(
    engine: Engine,
    parts: { lines: string[]; workers: Worker[]; onLine: Set<() => void> },
  ) {
    this.engine = engine;
    this.lines = parts.lines;
    this.workers = parts.workers;
    this.#onLine = parts.onLine;
  }

  static async start(
    options: { readonly loops?: number; readonly provider?: "posix" | "node" } = {},
  ): Promise<TestEngine> {
    const lines: string[] = [];
    const workers: Worker[] = [];
    const onLine = new Set<() => void>();
    const write = (_fields: object, message: string): void => {
      lines.push(message);
      for (const wake of onLine) wake();
    };
    const log: Log = { debug: () => undefined, info: write, warn: write, error: write };
    const engine = await createEngine({
      loops: options.loops ?? 1,
      provider: options.provider ?? "posix",
      log,
      drainTimeoutMs: 5000,
      startWorker: (entry, start) => {
        const worker = startSourceWorker(entry, start);
        workers.push(worker);
        return worker;
      },
    });
    onTestFinished(() => engine.close());
    return new TestEngine(engine, { lines, workers, onLine });
  }

  /** Settles when the line has been logged so many times. */
  async logged(message: string, times = 1): Promise<void> {
    while (this.lines.filter((line) => line === message).length < times) {
      await new Promise<void>((resolve) => this.#onLine.add(resolve));
    }
  }

  /** The port that a listener has. */
  port(key = "web"): number {
    const listener = this.engine.stats().listeners.find((one) => one.key === key);
    if (listener === undefined || listener.address.family === "unix") {
      throw new Error(`no port of listener ${key}`);
    }
    return listener.address.port;
  }

  /** Settles when the statistics are so; each look takes a turn of the event loop. */
  async until(holds: (stats: ReturnType<Engine["stats"]>) => boolean): Promise<void> {
    while (!holds(this.engine.stats())) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A TCP server on a free port, gone when the test has finished. */
export async function startServer(
  onConnection: (socket: Socket) => void,
  port = 0,
): Promise<{ readonly port: number; readonly server: Server; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
    onConnection(socket);
  });
  server.listen(port, LOCAL);
  await once(server, "listening");
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  };
  onTestFinished(stop);
  // A TCP server's address is never a path.
  return { port: (server.address() as AddressInfo).port, server, stop };
}

export const echo = (socket: Socket): void => {
  socket.pipe(socket);
};

/** Says its name, then ends. */
export const greeter =
  (name: string) =>
  (socket: Socket): void => {
    socket.end(name);
    socket.resume();
  };

/** A client that is connected. */
export async function dial(port: number): Promise<Socket> {
  const socket = connect({ port, host: LOCAL, allowHalfOpen: true });
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, "connect");
  // Whoever waits for something hears of it; nobody else has to.
  socket.on("error", () => undefined);
  return socket;
}

/** All that comes until the end; rejects where the connection fails. */
export async function readAll(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = [];
  socket.on("data", (part) => parts.push(part));
  // Not by iterating over it: that would close the other direction too.
  if (!socket.readableEnded) await once(socket, "end");
  return Buffer.concat(parts);
}

/** What a client gets that says this and then ends. */
export async function ask(port: number, text = ""): Promise<string> {
  const socket = await dial(port);
  socket.end(text);
  return (await readAll(socket)).toString();
}
