import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A TCP server that says its name to who connects, and then everything that it is told. */
export class NamedServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(name: string) {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket)).on("error", () => undefined);
      socket.write(`${name}\n`);
      socket.pipe(socket);
    });
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("it does not listen");
    return address.port;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** Starts one that ends with the test. */
export async function startNamedServer(name: string): Promise<NamedServer> {
  const server = new NamedServer(name);
  await server.listen();
  onTestFinished(() => server.close());
  return server;
}

/** A port that nobody has at this moment. */
export async function freePort(): Promise<number> {
  const server = new NamedServer("");
  await server.listen();
  const { port } = server;
  await server.close();
  return port;
}
