import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { connectHttp2 } from "./connect-http2.ts";

const WORDS = { what: "the API", code: "ERR_API_UNREACHABLE" } as const;
const TIMEOUT_MS = 60_000;

/** Takes one connection, and never says a word. */
async function startSilence() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  const at = server.address();
  if (at === null || typeof at === "string") throw new TypeError("no port");
  const address = { kind: "tcp", host: "127.0.0.1", port: at.port } as const;
  const called = once(server, "connection").then(([socket]): Socket => socket);
  return { address, called };
}

test("who ends the wait leaves no connection behind", async () => {
  const { address, called } = await startSilence();
  const end = new AbortController();
  const connecting = connectHttp2({ address }, WORDS, TIMEOUT_MS, end.signal);
  const socket = (await called).on("error", () => undefined).resume();
  const closed = once(socket, "close");
  end.abort();
  await expect(connecting).rejects.toMatchObject({ code: "ERR_ABORTED" });
  await closed;
});

test("who has ended connects to nobody", async () => {
  const { address } = await startSilence();
  const connecting = connectHttp2({ address }, WORDS, TIMEOUT_MS, AbortSignal.abort());
  await expect(connecting).rejects.toMatchObject({ code: "ERR_ABORTED" });
});
