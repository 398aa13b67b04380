import { connect, createServer } from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { keepAlive } from "./keep-alive.ts";

test("the other side is asked again and again, and a session that answers lives", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  let pings = 0;
  server.on("session", (session) => session.on("ping", () => (pings += 1)));
  const session = connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => {
    session.destroy();
    server.close();
  });
  keepAlive(session, { intervalMs: 2, timeoutMs: 10_000 });
  await expect.poll(() => pings).toBeGreaterThan(3);
  expect(session.destroyed).toBe(false);
});
