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

const wanted = (/** @type {number} */ port, use = "the balancer", flag = "--port") => ({
  port,
  use,
  flag,
});

test("a port that is taken: for what, by whom, and how to choose another that is free", async () => {
  const { port, close } = await listen();
  onTestFinished(close);
  const [line, remedy] = await describeTaken([wanted(port)], () => "nginx (pid 7)");
  expect(line).toBe(`port ${port}, for the balancer, is taken by nginx (pid 7)`);
  const [, other] = /^choose others: npm start -- --port (\d+)$/.exec(remedy ?? "") ?? [];
  expect(await describeTaken([wanted(Number(other))], () => undefined)).toEqual([]);
  const [unseen] = await describeTaken([wanted(port)], () => undefined, false);
  expect(unseen).toMatch(/ is taken by another process, which only root can see$/);
  const [toRoot] = await describeTaken([wanted(port)], () => undefined, true);
  expect(toRoot).toMatch(/ is taken by another process or an outgoing connection$/);
});

test("ports that are chosen together are told together", async () => {
  const [taken, free] = [await listen(), await listen()];
  await free.close();
  onTestFinished(taken.close);
  const servers = [wanted(free.port, "a", "--servers"), wanted(taken.port, "b", "--servers")];
  const [, remedy] = await describeTaken(servers, () => "me");
  expect(remedy).toMatch(new RegExp(`-- --servers ${free.port},\\d+$`));
});

test("a free port is free again; twice the same one is refused", async () => {
  const { port, close } = await listen();
  await close();
  expect(await describeTaken([wanted(port)], () => undefined)).toEqual([]);
  const [line] = await describeTaken([wanted(port, "a"), wanted(port, "b")], () => undefined);
  expect(line).toBe(`port ${port}, for b, is the one for a`);
});
