import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConfigInputs, type InstanceConfig, resolveConfig } from "./config.ts";
import { readSecretFile } from "./control-config.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-config-"));
});
afterAll(() => rm(folder, { recursive: true }));

function resolve(
  flags: Readonly<Record<string, unknown>>,
  environment: ConfigInputs["environment"] = {},
): Promise<InstanceConfig> {
  return resolveConfig({
    flags: { state: "/some/folder", ...flags },
    environment,
    hostName: "host",
    isControlled: true,
  });
}

async function fileWith(text: string): Promise<string> {
  const path = join(folder, "file");
  await writeFile(path, text);
  return path;
}

const tcp = (port: number) => ({ kind: "tcp", host: "127.0.0.1", port });

test("up needs neither source nor backend, and has its controllers and pages on loopback", async () => {
  const { sources, backends, values, control } = await resolve({});
  expect(sources).toEqual([]);
  expect(backends.map(({ name }) => name)).toEqual(["userspace"]);
  expect(values).toMatchObject({ metricsListen: tcp(10249), healthListen: tcp(10256) });
  expect(control).toEqual({
    stateFolder: "/some/folder",
    resp: { address: tcp(16309), secret: undefined },
    http: { address: tcp(18776), secret: undefined },
    httpHosts: [],
    maySystem: false,
    beginsEmpty: false,
    hasConsole: false,
  });
});

test("each of them can be elsewhere or off, also by the config file", async () => {
  const config = await fileWith(
    "version: 1\noptions: { resp-listen: off, metrics-listen: off, http-hosts: [a.example] }\n",
  );
  const { values, control } = await resolve(
    { config, httpListen: "0.0.0.0:80", noLoad: true },
    { PORTOLAN_HTTP_TOKEN: "a token" },
  );
  expect(values.metricsListen).toBeUndefined();
  expect(values.healthListen).toEqual(tcp(10256));
  expect(control).toMatchObject({
    resp: undefined,
    http: { address: { kind: "tcp", host: "0.0.0.0", port: 80 } },
    httpHosts: ["a.example"],
    beginsEmpty: true,
  });
});

test("without up the pages are off, and so are commands", async () => {
  const flags = { from: ["file:a"], to: ["print"] };
  const config = await resolveConfig({ flags, environment: {}, hostName: "host" });
  expect(config.values.metricsListen).toBeUndefined();
  expect(config.control).toBeUndefined();
});

test("secrets come from the environment or from files, and only from one of them", async () => {
  const { control } = await resolve(
    { httpTokenFile: await fileWith("a token\n") },
    { PORTOLAN_RESP_PASSWORD: "a password" },
  );
  expect([control?.resp?.secret, control?.http?.secret]).toEqual(["a password", "a token"]);
  const twice = resolve(
    { respPasswordFile: await fileWith("x") },
    { PORTOLAN_RESP_PASSWORD: "a password" },
  );
  await expect(twice).rejects.toMatchObject({
    code: "ERR_USAGE",
    message: "--resp-password-file and PORTOLAN_RESP_PASSWORD are both given; expected one",
  });
  await expect(resolve({ httpTokenFile: await fileWith("\n") })).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: expect.stringMatching(/^--http-token-file: .*file is empty/),
  });
  await expect(resolve({ httpTokenFile: "/nowhere/token" })).rejects.toThrow(/ENOENT/);
});

test("an address that is none is refused with what would be right", async () => {
  await expect(resolve({ respListen: "nowhere" })).rejects.toMatchObject({
    code: "ERR_USAGE",
    message: '--resp-listen: "nowhere" is not valid; expected HOST:PORT, PORT, unix:PATH or off',
  });
});

test("controllers that others can reach need a secret: all that have none are named", async () => {
  const open = { respListen: "0.0.0.0:1", httpListen: "[::]:2" };
  await expect(resolve(open)).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: [
      "--resp-listen: others can reach 0.0.0.0:1; set PORTOLAN_RESP_PASSWORD, or listen on 127.0.0.1",
      "--http-listen: others can reach [::]:2; set PORTOLAN_HTTP_TOKEN, or listen on 127.0.0.1",
    ].join("\n"),
  });
  const secrets = { PORTOLAN_RESP_PASSWORD: "a", PORTOLAN_HTTP_TOKEN: "b" };
  expect((await resolve(open, secrets)).control?.resp?.secret).toBe("a");
});

test.skipIf(process.platform === "win32")("a secret that a command names is no pipe", async () => {
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  await expect(readSecretFile(path, "password-file")).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: `password-file: ${path} can not be read: it is a pipe; expected a regular file`,
  });
});
