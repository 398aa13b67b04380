import { execFile } from "node:child_process";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { startMemoryController } from "./http-controller.fixture.ts";

const run = promisify(execFile);
const JSON_TYPE = ["-H", "content-type: application/json"];

/** What curl prints, and the status after it. */
async function curl(...args: readonly string[]): Promise<{ body: string; status: number }> {
  const { stdout } = await run("curl", ["-sS", "-w", "\n%{http_code}", ...args]);
  const cut = stdout.lastIndexOf("\n");
  return { body: stdout.slice(0, cut), status: Number(stdout.slice(cut + 1)) };
}

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-http-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("curl adds, reads, changes and removes", requires("curl"), async () => {
  const { http } = await startMemoryController({ token: "secret" });
  const token = ["-H", "authorization: Bearer secret"];
  const groups = `${http.url}/api/v1/module/server-group`;
  expect((await curl(groups)).status).toBe(401);
  const added = await curl(...token, ...JSON_TYPE, "-d", '{"name":"g0"}', groups);
  expect(added).toEqual({ status: 201, body: '{"name":"g0"}\n' });
  const server = '{"name":"s1","address":"[::1]:80"}';
  expect((await curl(...token, "--json", server, `${groups}/g0/server`)).status).toBe(201);
  const put = ["-X", "PUT", "--json", '{"weight":3}'];
  expect((await curl(...token, ...put, `${groups}/g0/server/s1`)).status).toBe(204);
  const { body } = await curl(...token, `${groups}/g0/detail`);
  expect(JSON.parse(body)).toMatchObject({
    name: "g0",
    contains: { server: [{ name: "s1", address: "[::1]:80", weight: 3 }] },
  });
  expect((await curl(...token, "-X", "DELETE", `${groups}/g0`)).status).toBe(204);
  expect((await curl(...token, `${groups}/g0`)).status).toBe(404);
});

test("curl gets its refusal while it sends a large file", requires("curl"), async () => {
  const { http } = await startMemoryController();
  const file = join(await scratch(), "large.json");
  await writeFile(file, Buffer.alloc(5_000_000, "x"));
  const url = `${http.url}/api/v1/command`;
  expect((await curl(...JSON_TYPE, "--data-binary", `@${file}`, url)).status).toBe(413);
  // Without waiting for a word, and without a length.
  const rude = ["-H", "expect:", "-H", "transfer-encoding: chunked"];
  expect((await curl(...JSON_TYPE, ...rude, "--data-binary", `@${file}`, url)).status).toBe(413);
  expect((await curl("-d", "command=list", url)).status).toBe(415);
});

test("curl reaches a unix socket, which is its owner's", requires("curl"), async () => {
  const path = join(await scratch(), "http.sock");
  const { http } = await startMemoryController({ address: { kind: "unix", path } });
  const { body, status } = await curl(
    "--unix-socket",
    path,
    "http://portolan/api/v1/module/tcp-lb",
  );
  expect({ body, status }).toEqual({ body: "[]\n", status: 200 });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(http.controller.address).toEqual({ kind: "unix", path });
});
