import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startCli } from "../support/cli.ts";
import { callTimes, LineClient } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";

const QUICKSTART = new URL("../../examples/quickstart.yaml", import.meta.url);

function stateFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-e2e-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "state.yaml");
  writeFileSync(path, text);
  return path;
}

function stateWith(port: number, servers: readonly number[]): string {
  const addresses = servers.map((server) => `127.0.0.1:${server}`).join(", ");
  return `version: 1\nservices: { web: { listen: "127.0.0.1:${port}", servers: [${addresses}] } }\n`;
}

test("the quickstart runs without root: balanced by weight, with what can not be done in words", async () => {
  const port = await freePort();
  const servers = await Promise.all(["1", "2", "3"].map(startNamedServer));
  let text = readFileSync(QUICKSTART, "utf8").replace("127.0.0.1:8080", `127.0.0.1:${port}`);
  servers.forEach((server, index) => {
    text = text.replace(`127.0.0.1:900${index + 1}`, `127.0.0.1:${server.port}`);
  });
  const from = `file:${stateFile(text)}`;
  const cli = startCli(["run", "--from", from, "--to", "userspace", "--node", "quickstart"]);
  await cli.waitFor(new RegExp(`serving 127\\.0\\.0\\.1:${port}`), "stderr");
  for (const server of servers) {
    await cli.waitFor(new RegExp(`"port":${server.port},"msg":"a server is up"`), "stderr");
  }
  expect(new Set(await callTimes(port, 12))).toEqual(new Set(["1", "2", "3"]));
  expect(cli.stderr).toContain("cluster IPs are led to the proxy only with --redirect");
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
