import { once } from "node:events";
import { createServer } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../support/requires.ts";
import { configOf, LOCAL } from "./proxy-config.ts";
import { TestEngine } from "./proxy-fixture.ts";

/** Answers with the headers that it got. */
async function startMirror(): Promise<number> {
  const server = createServer((message, response) => {
    response.end(JSON.stringify(message.headers));
  });
  server.listen(0, LOCAL);
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const SAID = {
  "X-Forwarded-For": "198.51.100.7",
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "a.example",
};

describe("trusted hops", requires("linux"), () => {
  test("what a trusted hop says is kept and added to", async () => {
    const proxy = await TestEngine.start();
    const listener = { mode: "http", trustedHops: ["127.0.0.0/8"] } as const;
    await proxy.engine.apply(configOf([await startMirror()], { listener }));
    const answer = await fetch(`http://${LOCAL}:${proxy.port()}/`, { headers: SAID });
    expect(await answer.json()).toMatchObject({
      "x-forwarded-for": `198.51.100.7, ${LOCAL}`,
      "x-forwarded-proto": "https",
      "x-forwarded-host": "a.example",
    });
  });

  test("what others say is replaced", async () => {
    const proxy = await TestEngine.start();
    const listener = { mode: "http", trustedHops: ["10.0.0.0/8"] } as const;
    await proxy.engine.apply(configOf([await startMirror()], { listener }));
    const answer = await fetch(`http://${LOCAL}:${proxy.port()}/`, { headers: SAID });
    const headers = await answer.json();
    expect(headers).toMatchObject({ "x-forwarded-for": LOCAL, "x-forwarded-proto": "http" });
    expect(headers).not.toHaveProperty("x-forwarded-host");
  });

  test("a security group judges the client that a trusted hop speaks for", async () => {
    const proxy = await TestEngine.start();
    const network = "198.51.100.0/24";
    const rule = { name: "friends", network, protocol: "TCP", access: "allow" } as const;
    const access = {
      kind: "SecurityGroup",
      namespace: "default",
      name: "friends",
      labels: {},
      annotations: {},
      defaultAccess: "deny",
      rules: [{ ...rule, minPort: 0, maxPort: 65_535 }],
    } as const;
    const listener = { mode: "http", trustedHops: ["127.0.0.0/8"], access } as const;
    await proxy.engine.apply(configOf([await startMirror()], { listener }));
    const url = `http://${LOCAL}:${proxy.port()}/`;
    expect((await fetch(url, { headers: SAID })).status).toBe(200);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });
});
