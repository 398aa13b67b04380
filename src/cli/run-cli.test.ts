import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { load } from "js-yaml";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AVAILABLE_BACKENDS } from "../daemon/backend-words.ts";
import { COMMANDS, loadCommands } from "./commands.ts";
import { runCli } from "./run-cli.ts";

const STATE = `version: 1
services:
  web:
    listen: 127.0.0.1:8080
    servers: [127.0.0.1:9001, 127.0.0.1:9002]
`;

let folder = "";
let state = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-cli-"));
  state = await file("state.yaml", STATE);
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function cli(args: readonly string[], environment = {}, input = ""): Promise<Result> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const stdin = new PassThrough().end(input);
  const code = await runCli(args, { stdin, stdout, stderr, environment, hostName: "host" });
  return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
}

test("version, for people and for machines", async () => {
  expect(await cli(["version"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^portolan \d+\.\d+\.\d+ \(node v/),
  });
  expect((await cli(["--version"])).stdout).toBe((await cli(["version"])).stdout);
  const { stdout } = await cli(["version", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ node: process.version });
});

test.each([
  [["chekc", "x"], /unknown command 'chekc'\n\(Did you mean check\?\)/],
  [["foo"], /unknown command 'foo'\nThere are: run, up, .*, version; --help explains them\.\n$/],
  [
    ["kcptun", "foo"],
    /unknown command 'foo'\nThere are: server, client; --help explains them\.\n$/,
  ],
  [["run", "--frmo", "x"], /unknown option '--frmo'\n\(Did you mean --from\?\)/],
  [["check"], /missing required argument 'FILE'/],
  [["check", "a", "b"], /too many arguments/],
  [["cleanup"], /missing; expected --to BACKEND, --kube-proxy or --edge/],
  [["completion", "tcsh"], /Allowed choices are bash, zsh, fish/],
  [["run", "--from", "file:a", "--to", "prnt"], /did you mean "print"/],
  [
    ["view", "a", "--format", "xml"],
    /--format: "xml" is not valid; expected one of yaml, json, ops/,
  ],
  [["explain", "--src", "10.0.0.1"], /missing; expected --from SOURCE, --dst IP:PORT/],
  [
    ["explain", "--from", "file:a", "--src", "x", "--dst", "10.0.0.1:80"],
    /--src: "x" is not valid/,
  ],
  [
    ["explain", "--from", "file:a", "--src", "10.0.0.1", "--dst", "10.0.0.1"],
    /--dst: "10.0.0.1" is/,
  ],
  [
    ["explain", "--from", "file:a", "--src", "fd00::1", "--dst", "10.0.0.1:80"],
    /--src, --dst: fd00::1 is IPv6 and 10\.0\.0\.1 is IPv4; expected addresses of one family/,
  ],
  [
    ["explain", "--from", "file:a", "--src", "10.0.0.2", "--dst", "10.0.0.1:80", "--backend", "x"],
    /--backend: "x" is not a backend; expected one of/,
  ],
])("wrong usage is 2: %j", async (args, message) => {
  const { code, stdout, stderr } = await cli(args);
  expect(stderr).toMatch(message);
  expect(stderr).toMatch(/^portolan: /);
  expect(stderr).not.toContain("    at ");
  expect([code, stdout]).toEqual([2, ""]);
});

test("without a command: help, as wrong usage; with --help: as asked for", async () => {
  const bare = await cli([]);
  expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining("Usage: portolan")]);
  const asked = await cli(["--help"]);
  expect([asked.code, asked.stdout]).toEqual([0, bare.stderr]);
});

test.each([...COMMANDS.keys()])("%s has help with examples", async (name) => {
  const { code, stdout } = await cli([...name.split(" "), "--help"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`Examples:\\n {2}# .*\\n {2}\\$ portolan ${name}`));
});

test("every example of every command is understood by its own parser", async () => {
  for (const spec of await loadCommands()) {
    const known = new Set(
      spec.optionGroups.flatMap(({ specs }) =>
        Object.keys(specs).map((key) => key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)),
      ),
    );
    for (const { command } of spec.examples) {
      expect(command.startsWith(spec.name)).toBe(true);
      for (const [, flag] of command.matchAll(/--([a-z\d-]+)/g)) expect(known).toContain(flag);
    }
  }
});

test("options with a letter, and arguments that may be missing, are told so", async () => {
  expect((await cli(["apply", "--help"])).stdout).toMatch(/^ {2}-f, --file <FILE> /m);
  expect((await cli(["get", "--help"])).stdout).toMatch(
    /^Usage: portolan get .*\[KIND\] \[NAME\.\.\.\]$/m,
  );
});

test("hello says what works here, for people and for machines", async () => {
  const { code, stdout } = await cli(["hello"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ {2}userspace +works/m);
  const { stdout: json } = await cli(["hello", "--json"]);
  const { backends, auto } = JSON.parse(json);
  const names = backends.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(["nftables", "userspace", "hcn"]));
  expect(names).toContain(auto);
});

test("check counts what is there", async () => {
  expect(await cli(["check", state])).toEqual({
    code: 0,
    stdout: `${state}: ok: 1 Service, 1 Listener, 2 Endpoint\n`,
    stderr: "",
  });
  const { stdout } = await cli(["check", "--json", state]);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, counts: { Service: 1, Endpoint: 2 } });
});

test("check and view read standard input, within the limit", async () => {
  expect(await cli(["check", "-"], {}, STATE)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^-: ok: 1 Service/),
  });
  expect(await cli(["view", "-", "--node", "a"], {}, STATE)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("127.0.0.1"),
  });
  expect(await cli(["check", "-", "--max-file-bytes", "10"], {}, STATE)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("standard input: more than 10 bytes"),
  });
});

test("check says all that is wrong, with file, line and field, and is 3", async () => {
  const bad = await file("bad.yaml", STATE.replace(":8080", ":80800").replace(":9002", ":0"));
  const { code, stdout, stderr } = await cli(["check", bad]);
  expect([code, stdout]).toEqual([3, ""]);
  expect(stderr).toContain(`${bad}:4: services.web.listen: "127.0.0.1:80800" is not valid`);
  expect(stderr).toContain(`${bad}:5: services.web.servers[1]: "127.0.0.1:0" is not valid`);
  const json = await cli(["check", "--json", bad]);
  expect(json.code).toBe(3);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: false,
    code: "ERR_STATE_INVALID",
    problems: [{}, {}],
  });
});

test("a file over the limit, or not there, is 3", async () => {
  expect(await cli(["check", state, "--max-file-bytes", "10"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("more than 10 bytes"),
  });
  expect((await cli(["check", state], { PORTOLAN_MAX_FILE_BYTES: "10" })).code).toBe(3);
  expect((await cli(["view", join(folder, "none.yaml")])).code).toBe(3);
});

test("a variable that is no option is warned of, with the one that was meant", async () => {
  const { code, stderr } = await cli(["check", state], {
    PORTOLAN_LOG_LEVL: "x",
    PORTOLAN_QQQQQ: "x",
  });
  expect(code).toBe(0);
  expect(stderr).toBe(
    "portolan: warning: the variable PORTOLAN_LOG_LEVL is not an option (did you mean PORTOLAN_LOG_LEVEL?); it is ignored\n" +
      "portolan: warning: the variable PORTOLAN_QQQQQ is not an option; it is ignored\n",
  );
});

test.each([
  "PORTOLAN_MAX_FILE_BYTES",
  "PORTOLAN_API_LISTEN",
  "PORTOLAN_TEST_ANYTHING",
  "PORTOLAN_REGENERATE",
  "PORTOLAN_HTTP_TOKEN",
  "PORTOLAN_SERVICE_HOST",
  "PORTOLAN_API_SERVICE_PORT_GRPC",
  "PORTOLAN_PORT_12090_TCP_ADDR",
])("no warning of %s", async (name) => {
  expect((await cli(["check", state], { [name]: "1000000" })).stderr).toBe("");
});

test("DEBUG shows where an error came from", async () => {
  const { stderr } = await cli(["check", join(folder, "none.yaml")], { DEBUG: "1" });
  expect(stderr).toContain("    at ");
});

test("view prints a node's state as yaml, json and operations", async () => {
  const yaml = await cli(["view", state, "--node", "node-a"]);
  expect(load(yaml.stdout)).toMatchObject({ node: "node-a", services: [{ key: "default/web" }] });
  const json = await cli(["view", state, "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    node: "host",
    services: [{ endpoints: [{}, {}] }],
    listeners: [{ port: 8080 }],
  });
  const ops = await cli(["view", state, "--format", "ops"]);
  expect(ops.stdout.split("\n").map((line) => line.split(" ", 2).join(" "))).toEqual([
    "reset",
    "set services",
    "set endpoints",
    "set endpoints",
    "set listeners",
    "sync",
    "",
  ]);
});

test("a node that the state does not know is noted", async () => {
  const path = await file("nodes.yaml", `${STATE}nodes:\n  node-a: {}\n`);
  const { code, stderr } = await cli(["view", path, "--node", "nod-a"]);
  expect(code).toBe(0);
  expect(stderr).toBe('portolan: note: the state has no node "nod-a"; it has node-a\n');
});

const PACKET = ["--src", "192.0.2.9", "--dst", "127.0.0.1:8080"];

test("explain says where a packet goes, for people and for machines", async () => {
  const args = ["explain", "--from", `file:${state}`, "--node", "a", ...PACKET];
  const people = await cli(args);
  expect(people.code).toBe(0);
  expect(people.stdout).toMatch(/^The packet goes to one of\n {2}127\.0\.0\.1:9001 {2}50 %/);
  const machines = await cli([...args, "--json", "--in", "node", "--backend", "print"]);
  expect(JSON.parse(machines.stdout)).toMatchObject({
    node: "a",
    from: "node",
    verdict: "endpoints",
    service: "default/web",
    candidates: [{ probability: 0.5 }, { probability: 0.5 }],
    backend: { name: "print", deviations: [] },
  });
});

test("explain tells where a packet comes from, and takes the policy", async () => {
  const from = ["explain", "--from", `file:${state}`, "--node", "a", "--json", ...PACKET];
  const asked = async (...more: string[]): Promise<Result> => cli([...from, ...more]);
  expect(JSON.parse((await asked()).stdout)).toMatchObject({ from: "outside" });
  expect((await asked("--cluster-cidr", "10.0.0.0/8,fd00::/8")).code).toBe(0);
  expect((await asked("--cluster-cidr", "10.0.0.0/33")).stderr).toContain('"10.0.0.0/33" is not');
  expect((await asked("--detect-local-mode", "cluster-cidr")).stderr).toContain("--cluster-cidr");
  expect((await asked("--nodeport-addresses", "all", "--masquerade-all")).code).toBe(0);
  expect((await asked("--nodeport-addresses", "most")).code).toBe(2);
  expect((await asked("--backend", "print", "--live")).code).toBe(4);
  expect((await asked("--backend", "egde")).stderr).toContain('did you mean "edge"?');
  expect((await asked("--live")).code).toBe(2);
});

test.each([[["run", "--config", "no-such-config.yaml"], 3]])("%j is %i", async (args, expected) => {
  expect((await cli(args)).code).toBe(expected);
});

test("run --dry-run prints what would be done", async () => {
  const { code, stdout } = await cli([
    "run",
    "--dry-run",
    "--from",
    `file:${state}`,
    "--to",
    "api",
  ]);
  expect([code, stdout]).toEqual([
    0,
    `would run as node host\nwould follow file:${state}\nwould serve the API on 127.0.0.1:12090\n`,
  ]);
});

/** What bash offers for a line, asked of a real bash. */
function offered(script: string, words: readonly string[]): string[] {
  const quoted = words.map((word) => `'${word}'`).join(" ");
  const ask = `${script}\nCOMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _portolan; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = spawnSync("bash", ["--norc", "-c", ask], { encoding: "utf8", cwd: folder });
  return stdout.split("\n").filter((line) => line !== "");
}

test("bash completes commands, options, backends, values and files", async () => {
  const { stdout: script } = await cli(["completion", "bash"]);
  expect(offered(script, ["portolan", "ch"])).toEqual(["check"]);
  expect(offered(script, ["portolan", "run", "--to", ""])).toEqual(AVAILABLE_BACKENDS);
  expect(offered(script, ["portolan", "run", "--log-l"])).toEqual(["--log-level"]);
  expect(offered(script, ["portolan", "run", "--format", "y"])).toEqual(["yaml"]);
  expect(offered(script, ["portolan", "run", "--from", "fi"])).toEqual(["file:"]);
  expect(offered(script, ["portolan", "run", "--from", "file", ":", "stat"])).toEqual([
    "state.yaml",
  ]);
  expect(offered(script, ["portolan", "check", "stat"])).toEqual(["state.yaml"]);
  expect(offered(script, ["portolan", "completion", ""])).toEqual(["bash", "zsh", "fish"]);
  expect(offered(script, ["portolan", "apply", "-f", "stat"])).toEqual(["state.yaml"]);
  expect(offered(script, ["portolan", "get", "up"])).toEqual(["upstream"]);
  expect(offered(script, ["portolan", "ed"])).toEqual(["edge"]);
  expect(offered(script, ["portolan", "edge", ""])).toEqual([
    "up",
    "node",
    "join",
    "key",
    "status",
  ]);
  expect(offered(script, ["portolan", "edge", "node", "--br"])).toEqual(["--bridge"]);
});

test.each(["bash", "zsh", "fish"])("%s knows every command and every option", async (shell) => {
  const { code, stdout } = await cli(["completion", shell]);
  expect(code).toBe(0);
  for (const spec of await loadCommands()) {
    for (const word of spec.name.split(" ")) expect(stdout).toContain(word);
    for (const { specs } of spec.optionGroups) {
      for (const name of Object.keys(specs)) {
        expect(stdout).toContain(name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`));
      }
    }
  }
});
