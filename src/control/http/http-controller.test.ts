import { expect, test } from "vitest";
import { TinyControl } from "../tiny-control.fixture.ts";
import {
  collectInto,
  LOOPBACK,
  startMemoryController,
  startTestController,
} from "./http-controller.fixture.ts";
import { startHttpController } from "./http-controller.ts";

const MODULE = "/api/v1/module";
const TOKEN = "correct-horse";

test("healthz answers, without a token too", async () => {
  const { http } = await startMemoryController({ token: TOKEN });
  expect(await http.ask("GET", "/healthz")).toMatchObject({ status: 200, text: "OK\n" });
  expect(await http.ask("HEAD", "/healthz")).toMatchObject({ status: 200, text: "" });
});

test("without the token nothing of the state is told", async () => {
  const { http } = await startMemoryController({ token: TOKEN, limits: { wrongTokenDelayMs: 1 } });
  const paths = [`${MODULE}/tcp-lb`, "/api/v1/nothing", "/api/v1/command", "/favicon.ico"];
  for (const path of paths) {
    for (const authorization of ["", "Bearer wrong", "Basic Y29ycmVjdC1ob3JzZQ==", TOKEN]) {
      const headers = authorization === "" ? {} : { authorization };
      expect(await http.ask("GET", path, { headers })).toMatchObject({
        status: 401,
        headers: { "www-authenticate": 'Bearer realm="portolan"' },
        json: { code: "ERR_UNAUTHORIZED" },
      });
    }
  }
  const headers = { authorization: `Bearer ${TOKEN}` };
  expect((await http.ask("GET", `${MODULE}/tcp-lb`, { headers })).status).toBe(200);
  for (const path of ["/", "/api/v1/openapi.json"]) {
    expect((await http.ask("GET", path)).status).toBe(200);
  }
});

test("wrong tokens that wait are bounded, and take no room from others", async () => {
  const limits = { maxInWork: 2, wrongTokenDelayMs: 1000 };
  const { http } = await startMemoryController({ token: TOKEN, limits });
  const guesses = Array.from({ length: 6 }, () => http.ask("GET", `${MODULE}/tcp-lb`));
  expect((await Promise.race(guesses)).status).toBe(429);
  const headers = { authorization: `Bearer ${TOKEN}` };
  expect((await http.ask("GET", `${MODULE}/tcp-lb`, { headers })).status).toBe(200);
  const statuses = new Set((await Promise.all(guesses)).map(({ status }) => status));
  expect([...statuses].sort()).toEqual([401, 429]);
});

test("strange hosts and other sites are refused", async () => {
  const { http } = await startMemoryController({ hosts: ["LB.example"] });
  const ask = (headers: Readonly<Record<string, string>>) =>
    http.ask("GET", `${MODULE}/tcp-lb`, { headers });
  expect(await ask({ host: "rebound.evil.example" })).toMatchObject({
    status: 403,
    json: { code: "ERR_REFUSED", message: expect.stringContaining("--http-hosts") },
  });
  expect((await ask({ host: "lb.example:18776" })).status).toBe(200);
  expect((await ask({ host: "localhost" })).status).toBe(200);
  const host = `127.0.0.1:${http.port}`;
  expect((await ask({ host, origin: `http://${host}` })).status).toBe(200);
  for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1"]) {
    const { status, headers } = await ask({ host, origin });
    expect(status).toBe(403);
    expect(headers).not.toHaveProperty("access-control-allow-origin");
  }
  expect((await http.ask("GET", "/healthz", { headers: { host: "any.example" } })).status).toBe(
    200,
  );
});

test("system commands only where they are allowed", async () => {
  const ask = async (maySystem: boolean) => {
    const { http, world } = await startMemoryController({ maySystem });
    const body = { command: "System: shutdown" };
    const { status } = await http.ask("POST", "/api/v1/command", { body });
    return { status, isShutDown: world.isShutDown };
  };
  expect(await ask(false)).toEqual({ status: 403, isShutDown: false });
  expect(await ask(true)).toEqual({ status: 200, isShutDown: true });
});

test("commands know who gave them", async () => {
  const control = new TinyControl();
  const http = await startTestController(control, { maySystem: true });
  await http.ask("GET", `${MODULE}/tcp-lb`);
  expect(control.given[0]?.caller).toEqual({
    via: "http",
    from: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    maySystem: true,
  });
});

test("a fault is told without its secrets, and the log has it", async () => {
  const control = new TinyControl();
  control.before = async () => {
    throw new Error("a secret of the implementation");
  };
  const http = await startTestController(control);
  const { status, text, json } = await http.ask("GET", `${MODULE}/tcp-lb`);
  expect(status).toBe(500);
  expect(text).not.toContain("secret");
  expect(json).toMatchObject({ code: "ERR_INSTANCE", errId: expect.any(String) });
  const logged = http.log.find(({ level }) => level === "error");
  expect(json).toMatchObject({ errId: Reflect.get(logged?.fields ?? {}, "errId") });
});

test("the status is there where it is given", async () => {
  const { http } = await startMemoryController({ status: () => ({ pid: 1 }) });
  expect(await http.ask("GET", "/api/v1/status")).toMatchObject({ status: 200, json: { pid: 1 } });
  const without = await startMemoryController();
  expect((await without.http.ask("GET", "/api/v1/status")).status).toBe(404);
});

test.each([
  { kind: "tcp", host: "0.0.0.0", port: 0 },
  { kind: "tcp", host: "::", port: 0 },
  { kind: "tcp", host: "192.0.2.1", port: 0 },
  { kind: "tcp", host: "lb.example", port: 0 },
] as const)("without a token it does not listen on $host", async (address) => {
  const started = startHttpController({
    address,
    token: "",
    control: new TinyControl(),
    log: collectInto([]),
    maySystem: false,
  });
  await expect(started).rejects.toMatchObject({
    code: "ERR_REFUSED",
    message: expect.stringContaining("--http-token-file"),
  });
});

test("with a token it listens anywhere; without one it says so", async () => {
  const address = { kind: "tcp", host: "0.0.0.0", port: 0 } as const;
  const { http } = await startMemoryController({ address, token: TOKEN });
  expect((await http.ask("GET", "/healthz")).status).toBe(200);
  expect(http.log).toEqual([]);
  const open = await startMemoryController();
  expect(open.http.log).toMatchObject([
    { level: "warn", message: expect.stringContaining("no token") },
  ]);
});

test("an address that is taken is named", async () => {
  const { http } = await startMemoryController();
  const again = startMemoryController({ address: { ...LOOPBACK, port: http.port } });
  await expect(again).rejects.toMatchObject({
    code: "ERR_LISTEN",
    message: expect.stringContaining(`127.0.0.1:${http.port}`),
  });
});
