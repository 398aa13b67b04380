import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { freePortBlock } from "../../../test/support/free-ports.ts";
import { startHealthServer } from "./health-server.ts";

const BODY = "all is well\n";

async function start() {
  const port = await freePortBlock(1);
  const server = await startHealthServer("127.0.0.1", port, () => ({
    status: 200,
    headers: { "x-test": "yes" },
    body: BODY,
  }));
  onTestFinished(() => server.close());
  const call = async (): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  const ask = async (method: string): Promise<string> => {
    const socket = await call();
    socket.write(`${method} / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n`);
    return text(socket);
  };
  return { server, call, ask };
}

test("HEAD is answered as GET is, without the body", async () => {
  const { ask } = await start();
  const [head = "", body] = (await ask("GET")).split("\r\n\r\n");
  expect(body).toBe(BODY);
  expect(head).toContain(`content-length: ${BODY.length}`);
  const withoutDate = (answer: string): string => answer.replace(/^Date: .*$/m, "");
  expect(withoutDate(await ask("HEAD"))).toBe(withoutDate(`${head}\r\n\r\n`));
});

test.each([
  ["said nothing yet", ""],
  ["is about to ask", "GET / HTTP/1.1\r\nHost: here\r\n"],
  ["still sends what it asks with", "POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\n1"],
])("who %s does not hold up the end, and is let go", async (_, said) => {
  const { server, call, ask } = await start();
  const socket = await call();
  socket.write(said);
  // The server has read what was sent before.
  await ask("GET");
  const isGone = once(socket.resume(), "close");
  await server.close();
  await isGone;
});
