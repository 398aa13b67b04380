import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli, startCli } from "../support/cli.ts";

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-e2e-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const service = (name: string, clusterIP: string, port = 80) => `apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec:
  clusterIP: ${clusterIP}
  ports:
    - port: ${port}
`;

const server = (address: string) => `version: 1
services: {web: {listen: 8080, servers: "${address}"}}
`;

test("every example passes the check", async () => {
  const files = readdirSync(new URL("../../examples/", import.meta.url));
  for (const name of files.filter((one) => one.endsWith(".yaml"))) {
    const { code, stdout, stderr } = await runCli(["check", `examples/${name}`]);
    expect([name, code, stderr]).toEqual([name, 0, ""]);
    expect(stdout).toMatch(/: ok: \d+ Service, /);
  }
});

test("a folder of all forms is one state", async () => {
  const folder = folderWith({
    "a.yaml": service("a", "10.96.0.1"),
    "b.yaml": server("127.0.0.1:9001"),
    "c.json": JSON.stringify({ services: [{ service: { name: "c" } }] }),
    "d.yml": "kind: Node\nname: n1\n",
    "README.md": "not a state file",
  });
  const { code, stdout } = await runCli(["check", folder]);
  expect(code).toBe(0);
  expect(stdout).toBe(`${folder}: ok: 3 Service, 1 Listener, 1 Endpoint, 1 Node\n`);
});

test("all that is wrong is told at once, with file, line and field, and is 3", async () => {
  const folder = folderWith({
    "a.yaml": service("a", "10.96.0.1", 70000),
    "b.yaml": service("b", "10.96.0.1", 0),
    "c.yaml": "a: [\n",
  });
  const { code, stderr } = await runCli(["check", folder]);
  expect(code).toBe(3);
  expect(stderr).toContain(`${folder}/a.yaml:7: spec.ports[0].port: 70000 is not valid`);
  expect(stderr).toContain(`${folder}/b.yaml:7: spec.ports[0].port: 0 is not valid`);
  expect(stderr).toContain(
    `cluster IP 10.96.0.1 of Service default/b is taken; expected another one: Service default/a (${folder}/a.yaml:1) has it`,
  );
  expect(stderr).toMatch(/c\.yaml:\d: .*; expected well-formed YAML/);
});

test("a file over the limit is refused", async () => {
  const folder = folderWith({ "a.yaml": service("a", "10.96.0.1") });
  const { code, stderr } = await runCli(["check", folder, "--max-file-bytes", "50"]);
  expect(code).toBe(3);
  expect(stderr).toContain("more than 50 bytes; expected less, or a higher --max-file-bytes");
});

test("a file that is replaced by rename, vanishes and comes back", async () => {
  const folder = folderWith({ "state.yaml": server("127.0.0.1:9001") });
  const file = join(folder, "state.yaml");
  const cli = startCli(["run", "--from", `file:${file}`, "--to", "print", "--node", "n1"]);
  await cli.waitFor(/set endpoints .*9001[\s\S]*^sync$/m);
  writeFileSync(`${file}.new`, server("127.0.0.1:9002"));
  renameSync(`${file}.new`, file);
  await cli.waitFor(/set endpoints .*9002[\s\S]*^sync$/m);
  renameSync(file, `${file}.away`);
  await cli.waitFor(/can not be read/, "stderr");
  writeFileSync(`${file}.away`, server("127.0.0.1:9003"));
  renameSync(`${file}.away`, file);
  await cli.waitFor(/set endpoints .*9003[\s\S]*^sync$/m);
  expect(cli.stdout.match(/^reset$/gm)).toHaveLength(1);
  expect((await cli.stop()).code).toBe(0);
});
