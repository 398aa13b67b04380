import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startCli } from "../support/cli.ts";
import { callTimes, LineClient } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";

const run = promisify(execFile);
const QUICKSTART = new URL("../../examples/quickstart.yaml", import.meta.url);

function stateFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-e2e-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "state.yaml");
  writeFileSync(path, text);
  return path;
}

/** Says its name to who asks. @returns its port */
async function startHttpServer(name: string): Promise<number> {
  const server = createServer((_, response) => void response.end(name)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it does not listen");
  return address.port;
}

function stateWith(port: number, servers: readonly number[]): string {
  const addresses = servers.map((server) => `127.0.0.1:${server}`).join(", ");
  return `version: 1\nservices: { web: { listen: "127.0.0.1:${port}", servers: [${addresses}] } }\n`;
}

test(
  "the quickstart runs without root: requests are balanced, SOCKS5 leads to the same servers",
  requires("curl"),
  async () => {
    const [port, socks] = [await freePort(), await freePort()];
    const servers = await Promise.all(["1", "2", "3"].map(startHttpServer));
    let text = readFileSync(QUICKSTART, "utf8")
      .replace("127.0.0.1:8080", `127.0.0.1:${port}`)
      .replace("127.0.0.1:1080", `127.0.0.1:${socks}`);
    servers.forEach((server, index) => {
      text = text.replace(`127.0.0.1:900${index + 1}`, `127.0.0.1:${server}`);
    });
    const from = `file:${stateFile(text)}`;
    const cli = startCli(["run", "--from", from, "--to", "userspace", "--node", "quickstart"]);
    await cli.waitFor(/"serving 127\.0\.0\.1:\d+ and 1 more"/, "stderr");
    for (const server of servers) {
      await cli.waitFor(new RegExp(`"port":${server},"msg":"a server is up"`), "stderr");
    }
    const names = new Set<string>();
    for (let count = 0; count < 12; count++) {
      names.add(await (await fetch(`http://127.0.0.1:${port}/`)).text());
    }
    expect(names).toEqual(new Set(["1", "2", "3"]));
    const { stdout } = await run("curl", [
      "--silent",
      ...["--proxy", `socks5h://127.0.0.1:${socks}`, "http://web.demo/"],
    ]);
    expect(names).toContain(stdout);
    expect((await cli.stop()).code).toBe(0);
  },
);

test("what can not be done is said in words", async () => {
  const text = `version: 1
services: { api: { clusterIPs: 10.96.0.10, ports: 80, servers: 10.1.0.5 } }
`;
  const cli = startCli(["run", "--from", `file:${stateFile(text)}`, "--to", "userspace"]);
  await cli.waitFor(/cluster IPs are led to the proxy only with --redirect/, "stderr");
  expect((await cli.stop()).code).toBe(0);
});

test("connections of an endpoint that is removed live on; new ones go to the others", async () => {
  const port = await freePort();
  const a = await startNamedServer("a");
  const b = await startNamedServer("b");
  const path = stateFile(stateWith(port, [a.port]));
  const cli = startCli(["run", "--from", `file:${path}`, "--to", "userspace"]);
  await cli.waitFor(new RegExp(`serving 127\\.0\\.0\\.1:${port}`), "stderr");
  const old = await LineClient.open(port);
  expect(await old.line()).toBe("a");
  writeFileSync(path, stateWith(port, [b.port]));
  await cli.waitFor(new RegExp(`delete Endpoint default/web/\\S*${a.port}`), "stderr");
  await reachOnly(port, "b");
  expect(await old.ask("still here")).toBe("still here");
});

test("a listener moves while connections of the old one go on", async () => {
  const [before, after] = [await freePort(), await freePort()];
  const a = await startNamedServer("a");
  const path = stateFile(stateWith(before, [a.port]));
  const cli = startCli(["run", "--from", `file:${path}`, "--to", "userspace"]);
  await cli.waitFor(new RegExp(`serving 127\\.0\\.0\\.1:${before}`), "stderr");
  const old = await LineClient.open(before);
  await old.line();
  writeFileSync(path, stateWith(after, [a.port]));
  await cli.waitFor(new RegExp(`no longer serving 127\\.0\\.0\\.1:${before}`), "stderr");
  expect(await callTimes(after, 2)).toEqual(["a", "a"]);
  await expect(LineClient.open(before)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(await old.ask("still here")).toBe("still here");
});

/** Calls until only that server answers: the log tells of a change before loops have it. */
async function reachOnly(port: number, name: string): Promise<void> {
  for (;;) {
    const names = await callTimes(port, 4);
    if (names.every((one) => one === name)) return;
  }
}
