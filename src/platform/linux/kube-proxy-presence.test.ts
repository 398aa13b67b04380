import { createServer, type OutgoingHttpHeaders } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { findKubeProxy } from "./kube-proxy-presence.ts";

/** Answers everything with the same; the port ends with the test. */
async function answering(body: string, headers: OutgoingHttpHeaders = {}): Promise<string> {
  const server = createServer((_, response) => response.writeHead(200, headers).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it has no port");
  return `http://127.0.0.1:${address.port}/proxyMode`;
}

test.each(["iptables", "ipvs", "nftables"])("who answers %s is a kube-proxy", async (mode) => {
  const url = await answering(`${mode}\n`);
  expect(await findKubeProxy(url)).toBe(`it answers "${mode}" on ${url}`);
});

test("who answers anything else is none", async () => {
  expect(await findKubeProxy(await answering("404 page not found"))).toBeUndefined();
});

test("an instance that stands in for one is none", async () => {
  const url = await answering("nftables", { server: "portolan" });
  expect(await findKubeProxy(url)).toBeUndefined();
});

test("where nobody answers there is none", async () => {
  expect(await findKubeProxy("http://127.0.0.1:1/proxyMode")).toBeUndefined();
});
