import { readlinkSync } from "node:fs";
import { chmod, mkdir, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import * as z from "zod";
import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { PROTOCOLS } from "../../core/model/common.ts";
import type { Tunnel } from "../../edge/tunnel/tunnel.ts";
import { type LiveMeaning, type LiveQuestion, meaningNow } from "./live-table.ts";

const FOLDER = "/run/portolan";
const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const MAX_QUESTION_BYTES = 4096;
const MAX_ASKING = 16;
const IDLE_MS = 5000;

const questionSchema: z.ZodType<LiveQuestion> = z.strictObject({
  dst: z.string(),
  protocol: z.enum(PROTOCOLS),
  dstPort: z.number(),
});

/** Where the tunnel of this network namespace answers root, and nobody else. */
export function livePath(): string {
  const number = /\d+/.exec(readlinkSync("/proc/self/ns/net"))?.[0] ?? "";
  return join(FOLDER, `edge-${number}.sock`);
}

export interface LiveServer {
  close(): Promise<void>;
}

/**
 * Answers who asks what an address means at this moment, a line each way. Where that can not be, the tunnel
 * goes on without: undefined.
 */
export async function serveLive(
  nodeName: string,
  tunnel: Pick<Tunnel, "table" | "stats">,
  log: Log,
): Promise<LiveServer | undefined> {
  const path = livePath();
  const server = createServer((socket) => {
    void answer(socket, async (question) => {
      const { peers } = await tunnel.stats();
      const known = peers.flatMap(({ node, roundTripMs }) =>
        roundTripMs === undefined ? [] : [[node, roundTripMs] as const],
      );
      const services = tunnel.table.services();
      return meaningNow(question, { nodeName, services, roundTripMs: new Map(known) });
    });
  });
  server.maxConnections = MAX_ASKING;
  try {
    await mkdir(FOLDER, { recursive: true, mode: OWNER_ONLY_FOLDER });
    await rm(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
    await chmod(path, OWNER_ONLY);
  } catch (error) {
    log.warn({ err: error, path }, `explain --live is not answered: ${messageOf(error)}`);
    return undefined;
  }
  server.unref();
  return {
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function answer(
  socket: Socket,
  ask: (question: LiveQuestion) => Promise<LiveMeaning>,
): Promise<void> {
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    if (text.length > MAX_QUESTION_BYTES) socket.destroy();
    if (!text.endsWith("\n")) return;
    const reply = async (): Promise<LiveMeaning | { readonly error: string }> => {
      try {
        return await ask(questionSchema.parse(JSON.parse(text)));
      } catch (error) {
        return { error: messageOf(error) };
      }
    };
    void reply().then((value) => socket.end(`${JSON.stringify(value)}\n`));
  });
}
