import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../support/cli.ts";
import { LineClient } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { startUp } from "./cli-instance.ts";

const SLOW = 120_000;

async function startServing() {
  const [port, a, away] = [await freePort(), await startNamedServer("a"), await freePort()];
  const text = `version: 1
services:
  web:
    listen: 127.0.0.1:${port}
    healthCheck: { protocol: tcp, interval: 100ms, up: 1, down: 1 }
    servers: [{ name: here, address: "127.0.0.1:${a.port}" }, { name: away, address: "127.0.0.1:${away}" }]
`;
  const instance = await startUp({
    args: ["--from", "file:source.yaml"],
    files: { "source.yaml": text },
  });
  await instance.until(({ groups }) => {
    const health = groups.flatMap(({ servers }) => servers.map((server) => server.health));
    return health.includes("up") && health.includes("down");
  });
  return { instance, port };
}

test(
  "status says what runs, how it is, and what it serves",
  async () => {
    const { instance, port } = await startServing();
    const client = await LineClient.open(port);
    await client.line();
    const { code, stdout } = await instance.run(["status"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^portolan \\S+, pid ${instance.up.pid}, node \\S+, up \\d+ s: healthy\n`),
    );
    expect(stdout).toMatch(/source +file:source.yaml +ok/);
    expect(stdout).toMatch(/backend +userspace +ok/);
    expect(stdout).toMatch(
      new RegExp(`\nweb +127\\.0\\.0\\.1:${port} +tcp +web +1 +1 .* file:source.yaml\n`),
    );
    expect(stdout).toMatch(/\nweb +here +127\.0\.0\.1:\d+ +up /);
    expect(stdout).toMatch(/\nweb +away +127\.0\.0\.1:\d+ +down .*\S\n/);
    expect(stdout).toMatch(/\nresp-controller +127\.0\.0\.1:\d+ +without a secret/);
    // What no program can do is counted, and shown only where it is asked for.
    expect(stdout).not.toContain("Node has no SCTP sockets");
    expect((await instance.run(["status", "--all"])).stdout).toContain("Node has no SCTP sockets");
    const json = await instance.run(["status", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ pid: instance.up.pid, ready: true });
  },
  SLOW,
);

test(
  "status goes on with --watch, and top prints a frame without a terminal",
  async () => {
    const { instance } = await startServing();
    const watching = instance.start(["status", "--watch"]);
    // Rates are known from the second look on.
    await watching.waitFor(/NEW\/S/);
    expect((await watching.stop("SIGINT")).code).toBe(130);
    const { code, stdout } = await instance.run(["top"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^portolan \S+ {2}healthy {2}CPU \d+ %/);
    expect(stdout).toMatch(/\nLISTENER .*\nweb .*\n/);
    expect(stdout).toMatch(/\nweb\/away .* down /);
    expect(stdout).toMatch(/\nLOOP .*\n\S+ +\d+/);
  },
  SLOW,
);

test("where none runs, the remedy is printed and the code is 4", async () => {
  for (const args of [["status"], ["top"], ["status", "--watch"]]) {
    const { code, stderr } = await runCli(args);
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining("start one, or name the state folder"),
    ]);
  }
});

test(
  "support has what a bug report needs, and no planted secret",
  async () => {
    const secrets = {
      password: "planted-password",
      token: "planted-token",
      key: "planted-key-text",
    };
    const instance = await startUp({
      args: ["--resp-password-file", "password", "--http-token-file", "token"],
      files: { password: `${secrets.password}\n`, token: `${secrets.token}\n` },
    });
    const pem = `-----BEGIN PRIVATE KEY-----\n${secrets.key}\n-----END PRIVATE KEY-----\n`;
    const annotated = instance.file(
      "state.yaml",
      `version: 1\nservices: { web: { annotations: { key: ${JSON.stringify(pem)} }, servers: ["127.0.0.1:9"], ports: 80, clusterIPs: 10.96.0.1 } }\n`,
    );
    await instance.run(["apply", "-f", annotated]);
    const { code, stdout } = await instance.run(["support"], {
      env: { PORTOLAN_HTTP_TOKEN: "planted-variable" },
    });
    expect(code).toBe(0);
    const [file = ""] = readdirSync(instance.folder).filter((name) => name.endsWith(".tar.gz"));
    expect(stdout).toMatch(/machine\.json .*\n(?:.*\n)*instance\/status\.json/);
    expect(stdout.trim().endsWith(file)).toBe(true);
    const path = join(instance.folder, file);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { stdout: listing } = spawnSync("tar", ["-tzf", path], { encoding: "utf8" });
    expect(listing).toContain("/instance/log.jsonl\n");
    const everything = gunzipSync(readFileSync(path)).toString("latin1");
    for (const secret of [...Object.values(secrets), "planted-variable"]) {
      expect(everything).not.toContain(secret);
    }
  },
  SLOW,
);

test(
  "support works where none runs, and does not write over a file",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "portolan-support-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const output = join(folder, "bundle.tar.gz");
    const first = await runCli(["support", "--output", output]);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("no-instance.txt") });
    expect(await runCli(["support", "--output", output])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("bundle.tar.gz can not be written (EEXIST"),
    });
  },
  SLOW,
);
