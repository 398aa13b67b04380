import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { type CliProcess, runCli, startCli } from "../support/cli.ts";

function stateWith(...servers: readonly string[]): string {
  return `version: 1
services:
  web:
    listen: 127.0.0.1:8080
    servers: [${servers.join(", ")}]
`;
}

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** A state file of its own. */
function stateFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-e2e-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "state.yaml");
  writeFileSync(path, text);
  return path;
}

const A = "127.0.0.1:9001";
const B = "127.0.0.1:9002";

async function addressIn(cli: CliProcess, message: RegExp): Promise<string> {
  const [, address = ""] = await cli.waitFor(message, "stderr");
  return address;
}

test("--once prints the state and ends with 0; only logs are on standard error", async () => {
  const state = stateFile(stateWith(A));
  const args = ["run", "--from", `file:${state}`, "--to", "print", "--once", "--node", "a"];
  const { code, stdout, stderr } = await runCli(args);
  expect(code).toBe(0);
  expect(stdout.split("\n").map((line) => line.split(" ", 2).join(" "))).toEqual([
    "reset",
    "set services",
    "set endpoints",
    "set listeners",
    "sync",
    "",
  ]);
  const lines = stderr.trim().split("\n");
  const logs = lines.map((line): unknown => JSON.parse(line));
  expect(logs).toContainEqual(
    expect.objectContaining({
      msg: "state changed",
      audit: expect.objectContaining({ owner: `file:${state}`, revision: 1, created: 3 }),
    }),
  );
});

test("follows its file, keeps the state when that goes bad, and says so", async () => {
  const state = stateFile(stateWith(A));
  const cli = startCli(["run", "--from", `file:${state}`, "--to", "print", "--node", "a"]);
  await cli.waitFor(/^sync$/m);
  writeFileSync(state, stateWith(A, B));
  await cli.waitFor(/set endpoints default\/web\/\S*9002 [^\n]*\nsync/);
  writeFileSync(state, stateWith(A, "127.0.0.1:70000"));
  await cli.waitFor(/state\.yaml:5: services\.web\.servers\[1\]/, "stderr");
  writeFileSync(state, stateWith(B));
  await cli.waitFor(/delete endpoints default\/web\/\S*9001\nsync/);
  const { code } = await cli.stop("SIGTERM");
  expect(code).toBe(0);
});

test("a file that is bad at the start is 3, with file, line and field and without a stack", async () => {
  const state = stateFile(stateWith("127.0.0.1:0"));
  const { code, stdout, stderr } = await runCli([
    "run",
    "--from",
    `file:${state}`,
    "--to",
    "print",
  ]);
  expect([code, stdout]).toEqual([3, ""]);
  expect(stderr).toContain(`portolan: ${state}:5: services.web.servers[0]`);
  expect(stderr).not.toContain("    at ");
});

test.each([
  ["SIGTERM", 0],
  ["SIGINT", 130],
] as const)("%s while it still starts is %i", async (signal, expected) => {
  const config = stateFile("").replace("state.yaml", "config.fifo");
  await promisify(execFile)("mkfifo", [config]);
  const cli = startCli(["run", "--config", config]);
  // Opens when the program does, which then reads a file that never ends.
  const writer = await open(config, "w");
  cli.kill(signal);
  let isRunning = true;
  const ended = cli.ended().finally(() => {
    isRunning = false;
  });
  // A process ends only once its reading has: each line ends one.
  while (isRunning) await writer.write("# more follows\n").catch(() => undefined);
  await writer.close();
  expect(await ended).toMatchObject({ code: expected, signal: undefined, stderr: "" });
});

test("SIGINT is 130", async () => {
  const state = stateFile(stateWith(A));
  const cli = startCli(["run", "--from", `file:${state}`, "--to", "print"]);
  await cli.waitFor(/^sync$/m);
  expect((await cli.stop("SIGINT")).code).toBe(130);
});

test("one instance serves the API, another follows it and outlives it", async () => {
  const state = stateFile(stateWith(A));
  const from = ["run", "--from", `file:${state}`, "--to", "api"];
  const brain = startCli([...from, "--api-listen", "127.0.0.1:0"]);
  const address = await addressIn(brain, /listens on ([\d.:]+)/);
  const node = startCli(["run", "--from", `api:${address}`, "--to", "print", "--node", "b"]);
  await node.waitFor(/^sync$/m);
  writeFileSync(state, stateWith(A, B));
  await node.waitFor(/set endpoints default\/web\/\S*9002 [^\n]*\nsync/);
  expect((await brain.stop("SIGTERM")).code).toBe(0);
  await node.waitFor(/can not be reached|is lost/, "stderr");
  const again = startCli([...from, "--api-listen", address]);
  await again.waitFor(/listens on/, "stderr");
  writeFileSync(state, stateWith(B));
  await node.waitFor(/delete endpoints default\/web\/\S*9001\nsync/);
  const { code, stdout } = await node.stop("SIGTERM");
  expect(code).toBe(0);
  expect(stdout.match(/^delete .*/gm)).toHaveLength(1);
});

test("--once from an API: by a unix socket, 0; where nobody answers, 1", async () => {
  const state = stateFile(stateWith(A));
  const socket = `unix:${state}.sock`;
  const brain = startCli(["run", "--from", `file:${state}`, "--to", "api", "--api-listen", socket]);
  await brain.waitFor(/listens on unix:/, "stderr");
  const once = ["run", "--to", "print", "--format", "json", "--once", "--from"];
  const { code, stdout } = await runCli([...once, `api:${socket}`, "--node", "b"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ node: "b", services: [{ key: "default/web" }] });
  await brain.stop();
  const failed = await runCli([...once, `api:${socket}`]);
  expect([failed.code, failed.stdout]).toEqual([1, ""]);
  expect(failed.stderr).toContain("can not be reached");
});

test("explain asks a running API", async () => {
  const state = stateFile(stateWith(A));
  const brain = startCli(["run", "--from", `file:${state}`, "--to", "api", "--api-listen", "0"]);
  const address = await addressIn(brain, /listens on ([\d.:]+)/);
  const packet = ["--node", "a", "--src", "127.0.0.1", "--dst", "127.0.0.1:8080"];
  const { code, stdout } = await runCli(["explain", "--from", `api:${address}`, ...packet]);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^The packet goes to\n {2}127\.0\.0\.1:9001/),
  ]);
});

test("two sources: refused by name, or the first wins", async () => {
  const service = (name: string): string =>
    `version: 1\nservices:\n  ${name}: {clusterIPs: [10.96.0.1], ports: [80], servers: [${A}]}\n`;
  const first = stateFile(service("first"));
  const second = stateFile(service("second"));
  const from = ["--from", `file:${first}`, "--from", `file:${second}`];
  const args = ["run", ...from, "--to", "print", "--once"];
  const refused = await runCli(args);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toMatch(/10\.96\.0\.1/);
  const ordered = await runCli([...args, "--source-order", "first-wins"]);
  expect(ordered.code).toBe(0);
  expect(ordered.stdout).toContain("set services default/first ");
  expect(ordered.stdout).not.toContain("set services default/second ");
  expect(ordered.stderr).toContain("claim lost: Service default/second");
});

test("metrics and health are served where asked for", async () => {
  const state = stateFile(stateWith(A));
  const listen = ["--metrics-listen", "0", "--health-listen", "0"];
  const cli = startCli(["run", "--from", `file:${state}`, "--to", "print", ...listen]);
  const address = await addressIn(cli, /status pages on ([\d.:]+)/);
  await cli.waitFor(/^sync$/m);
  expect((await fetch(`http://${address}/livez`)).status).toBe(200);
  const metrics = await (await fetch(`http://${address}/metrics`)).text();
  expect(metrics).toContain("portolan_store_revision 1");
});

test("who reads no more ends it quietly", async () => {
  const state = stateFile(stateWith(A));
  const args = [MAIN, "run", "--from", `file:${state}`, "--to", "print"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "close");
  await once(child.stdout, "data");
  child.stdout.destroy();
  writeFileSync(state, stateWith(A, B));
  expect(await ended).toEqual([0, null]);
  expect(stderr).not.toMatch(/EPIPE|"level":50/);
});

test("logs are pretty where asked for, and silent where not wanted", async () => {
  const state = stateFile(stateWith(A));
  const args = ["run", "--from", `file:${state}`, "--to", "print", "--once"];
  const pretty = await runCli([...args, "--log-format", "pretty"]);
  expect(pretty.stderr).toMatch(/^\[\d\d:\d\d:\d\d\.\d+\] INFO: /m);
  const silent = await runCli(args, { env: { PORTOLAN_LOG_LEVEL: "silent" } });
  expect([silent.code, silent.stderr]).toEqual([0, ""]);
});

test("a port that is taken is named, and is 1", async () => {
  const state = stateFile(stateWith(A));
  const from = ["run", "--from", `file:${state}`, "--to", "api", "--api-listen"];
  const first = startCli([...from, "0"]);
  const address = await addressIn(first, /listens on ([\d.:]+)/);
  const second = await runCli([...from, address]);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain(address);
});

test("version is quick to load and needs no configuration", async () => {
  const { code, stdout } = await runCli(["version"], { env: { PORTOLAN_LOG_LEVEL: "nonsense" } });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^portolan \d/)]);
});
