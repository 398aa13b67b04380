import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { describeTaken } from "./taken-ports.mjs";

async function listen() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.close();
    await once(server, "close");
  };
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, close };
}

const wanted = (/** @type {number} */ port, use = "the balancer") => ({
  port,
  use,
  option: "npm start -- --port N",
});

test("a port that is taken: for what, by whom, and how to choose another", async () => {
  const { port, close } = await listen();
  onTestFinished(close);
  expect(await describeTaken([wanted(port)], () => "nginx (pid 7)")).toEqual([
    `port ${port}, for the balancer, is taken by nginx (pid 7); choose another: npm start -- --port N`,
  ]);
  const [line] = await describeTaken([wanted(port)], () => undefined);
  expect(line).toContain("is taken by another process");
});

test("a free port is free again; twice the same one is refused", async () => {
  const { port, close } = await listen();
  await close();
  expect(await describeTaken([wanted(port)], () => undefined)).toEqual([]);
  expect(await describeTaken([wanted(port, "a"), wanted(port, "b")], () => undefined)).toEqual([
    `port ${port}, for b, is the one for a; choose another: npm start -- --port N`,
  ]);
});
