import { type ClientHttp2Session, connect, createServer, type Http2Server } from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { keepAlive } from "./keep-alive.ts";

async function connected(server: Http2Server): Promise<ClientHttp2Session> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const session = connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => {
    session.destroy();
    server.close();
  });
  return session;
}

test("the other side is asked again and again, and a session that answers lives", async () => {
  const server = createServer();
  let pings = 0;
  server.on("session", (session) => session.on("ping", () => (pings += 1)));
  const session = await connected(server);
  keepAlive(session, { intervalMs: 2, timeoutMs: 10_000 });
  await expect.poll(() => pings).toBeGreaterThan(3);
  expect(session.destroyed).toBe(false);
});

test("a session that is not connected yet, or ends when its streams do, is not asked", async () => {
  const server = createServer();
  server.on("stream", (stream) => stream.respond({ ":status": 200 }));
  const session = await connected(server);
  let asked = 0;
  const isWanted = (): boolean => {
    asked += 1;
    return true;
  };
  keepAlive(session, { intervalMs: 1, timeoutMs: 10_000, isWanted });
  // It is connecting until this turn is over.
  expect(session.connecting).toBe(true);
  const stream = session.request({ ":path": "/" });
  await new Promise((resolve) => stream.once("response", resolve));
  session.close();
  const before = asked;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(asked).toBe(before);
  expect(stream.destroyed).toBe(false);
});
