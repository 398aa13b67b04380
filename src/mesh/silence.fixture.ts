import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { ListenAddress } from "../core/options/listen-address.ts";

export interface Silence {
  readonly address: ListenAddress;
  /** How many have come. */
  calls(): number;
}

/** Takes connections, and never says a word. */
export async function startSilence(): Promise<Silence> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const at = server.address();
  if (at === null || typeof at === "string") throw new TypeError("no port");
  const address = { kind: "tcp", host: "127.0.0.1", port: at.port } as const;
  return { address, calls: () => sockets.size };
}
