import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { parseKind } from "../../core/model/parse.ts";
import { MemoryWorld } from "../control-world.fixture.ts";
import { createControl } from "../create-control.ts";
import {
  startMemoryController,
  startTestController,
  startWithListener,
} from "./http-controller.fixture.ts";

const MODULE = "/api/v1/module";

test("things are added, read, changed and removed", async () => {
  const { http } = await startWithListener();
  const added = await http.ask("POST", `${MODULE}/upstream`, { body: { name: "ns/u 1" } });
  expect(added.status).toBe(400);
  const named = await http.ask("POST", `${MODULE}/upstream`, { body: { name: "ns/u1" } });
  expect(named).toMatchObject({
    status: 201,
    headers: { location: "/api/v1/module/upstream/ns%2Fu1" },
    json: { name: "ns/u1" },
  });
  expect(await http.ask("GET", String(named.headers.location))).toMatchObject({
    status: 200,
    json: { name: "ns/u1", owner: "control" },
  });

  const list = await http.ask("GET", `${MODULE}/tcp-lb`);
  expect(list).toMatchObject({
    status: 200,
    headers: { "content-type": "application/json; charset=utf-8" },
    json: [{ name: "lb0", address: "127.0.0.1:8080", backend: "u0", protocol: "http" }],
  });
  expect(await http.ask("GET", `${MODULE}/tcp-lb/lb0`)).toMatchObject({
    status: 200,
    json: { name: "lb0", totalConnections: 0 },
  });
  expect((await http.ask("GET", `${MODULE}/tcp-lb/default%2Flb0`)).status).toBe(200);

  const changed = await http.ask("PUT", `${MODULE}/tcp-lb/lb0`, { body: { inBufferSize: 32768 } });
  expect(changed).toMatchObject({ status: 204, text: "" });
  expect(await http.ask("GET", `${MODULE}/tcp-lb/lb0`)).toMatchObject({
    json: { inBufferSize: 32768, protocol: "http" },
  });

  expect(await http.ask("DELETE", `${MODULE}/tcp-lb/lb0`)).toMatchObject({ status: 204, text: "" });
  expect(await http.ask("GET", `${MODULE}/tcp-lb/lb0`)).toMatchObject({
    status: 404,
    json: { code: "ERR_NOT_FOUND" },
  });
});

test("what stands in something else is reached through it", async () => {
  const { http } = await startWithListener();
  expect(await http.ask("GET", `${MODULE}/upstream/u0/server-group/g0`)).toMatchObject({
    status: 200,
    json: { name: "g0", weight: 7 },
  });
  const body = { weight: 0 };
  const server = `${MODULE}/server-group/g0/server/s1`;
  expect((await http.ask("PUT", server, { body })).status).toBe(204);
  expect(await http.ask("GET", server)).toMatchObject({ json: { weight: 0, health: "unused" } });
  expect((await http.ask("DELETE", server)).status).toBe(204);
  expect((await http.ask("DELETE", server)).status).toBe(404);
  expect((await http.ask("GET", `${MODULE}/server-group/g9/server`)).status).toBe(404);
});

test("a detail has all that is in it, and `all` has everything", async () => {
  const { http } = await startWithListener();
  const detail = await http.ask("GET", `${MODULE}/server-group/g0/detail`);
  const group = { name: "g0", contains: { server: [{ name: "s1" }, { name: "s2", weight: 5 }] } };
  expect(detail).toMatchObject({ status: 200, json: group });
  expect(await http.ask("GET", `${MODULE}/all`)).toMatchObject({
    status: 200,
    json: {
      "tcp-lb": [{ name: "lb0" }],
      "udp-lb": [],
      upstream: [{ name: "u0", contains: { "server-group": [{ name: "g0", weight: 7 }] } }],
      "server-group": [group],
      "event-loop-group": [{ contains: { "event-loop": [{}, {}] } }],
    },
  });
});

test("counters and channels have paths of their own", async () => {
  const { http } = await startWithListener();
  expect(await http.ask("GET", "/api/v1/statistics/tcp-lb/lb0/bytes-in")).toMatchObject({
    status: 200,
    json: { value: 0 },
  });
  expect(await http.ask("GET", "/api/v1/channel/tcp-lb/lb0/conn")).toMatchObject({
    status: 200,
    json: [],
  });
  expect((await http.ask("DELETE", "/api/v1/channel/tcp-lb/lb0/conn/a%2Fb")).status).toBe(404);
  expect(await http.ask("GET", "/api/v1/state/dns-cache")).toMatchObject({ status: 200, json: [] });
});

test("a body with mistakes is refused with all of them", async () => {
  const { http } = await startMemoryController();
  const body = { address: "nowhere", inBufferSize: "much", protocoll: "http", listOfCertKey: {} };
  const { status, json } = await http.ask("POST", `${MODULE}/tcp-lb`, { body });
  expect(status).toBe(400);
  expect(json).toMatchObject({
    code: "ERR_USAGE",
    problems: expect.arrayContaining([
      { path: "name", value: "(missing)", expected: expect.any(String) },
      { path: "backend", value: "(missing)", expected: expect.any(String) },
      { path: "address", value: '"nowhere"', expected: expect.stringContaining("HOST:PORT") },
      { path: "inBufferSize", value: '"much"', expected: expect.stringContaining("whole number") },
      { path: "protocoll", value: '"protocoll"', expected: '"protocol"' },
      { path: "listOfCertKey", value: expect.any(String), expected: expect.any(String) },
    ]),
  });
});

test("a key that is there twice, and a field that can not be changed, are refused by name", async () => {
  const { http } = await startMemoryController();
  const twice = '{"name":"g0","annotations":{"a":"1","a":"2"}}';
  const { status, json } = await http.ask("POST", `${MODULE}/server-group`, { body: twice });
  expect(status).toBe(400);
  expect(json).toMatchObject({ code: "ERR_USAGE", problems: [{ path: "annotations.a" }] });
  const line = '{"command":"list upstream","command":"list tcp-lb"}';
  expect((await http.ask("POST", "/api/v1/command", { body: line })).json).toMatchObject({
    problems: [{ path: "command", value: "the key is there twice" }],
  });
  const moved = { address: "127.0.0.1:81" };
  expect((await http.ask("PUT", `${MODULE}/tcp-lb/lb0`, { body: moved })).json).toMatchObject({
    problems: [{ path: "address", value: "can not be changed" }],
  });
});

test("what is no JSON, or none at all, is refused", async () => {
  const { http } = await startMemoryController();
  const post = (body: unknown, headers = {}) =>
    http.ask("POST", `${MODULE}/upstream`, { body, headers });
  expect((await post("{")).json).toMatchObject({ code: "ERR_USAGE" });
  for (const body of ["{", "", "[]", "null", Buffer.from([0xff, 0xfe])]) {
    expect((await post(body)).status).toBe(400);
  }
  const types = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=latin1",
    "multipart/form-data; boundary=x",
  ];
  for (const type of types) {
    expect(await post('{"name":"u0"}', { "content-type": type })).toMatchObject({
      status: 415,
      headers: { accept: "application/json" },
    });
  }
  const utf8 = { "content-type": 'Application/JSON; charset="UTF-8"' };
  expect((await post('{"name":"u0"}', utf8)).status).toBe(201);
});

test("queries that nothing reads are refused", async () => {
  const { http } = await startMemoryController();
  expect((await http.ask("GET", `${MODULE}/tcp-lb?page=2`)).status).toBe(400);
  expect((await http.ask("DELETE", `${MODULE}/tcp-lb/lb0?force=maybe`)).status).toBe(400);
});

test("what is not there, and methods that are not", async () => {
  const { http } = await startMemoryController();
  expect(await http.ask("GET", "/api/v1/modul/tcp-lb")).toMatchObject({
    status: 404,
    json: { code: "ERR_NOT_FOUND" },
  });
  expect(await http.ask("PATCH", `${MODULE}/tcp-lb`)).toMatchObject({
    status: 405,
    headers: { allow: "GET, HEAD, POST" },
  });
  expect(await http.ask("OPTIONS", `${MODULE}/tcp-lb/lb0`)).toMatchObject({
    status: 405,
    headers: { allow: "DELETE, GET, HEAD, PUT" },
  });
  expect((await http.ask("GET", `${MODULE}/tcp-lb/%ff`)).status).toBe(400);
});

test("what is taken, in use or of another source stays as it is", async () => {
  const { http, world } = await startWithListener();
  const again = await http.ask("POST", `${MODULE}/upstream`, { body: { name: "u0" } });
  expect(again).toMatchObject({ status: 409, json: { code: "ERR_KEY_TAKEN" } });
  const used = await http.ask("DELETE", `${MODULE}/upstream/u0`);
  expect(used).toMatchObject({
    status: 409,
    json: { code: "ERR_IN_USE", message: expect.stringContaining("lb0") },
  });
  world.store.transact("file:state.yaml", (transaction) => {
    transaction.set(
      parseKind("SecurityGroup", { namespace: "default", name: "theirs", defaultAccess: "deny" }),
    );
  });
  const theirs = await http.ask("DELETE", `${MODULE}/security-group/theirs`);
  expect(theirs).toMatchObject({ status: 409, json: { code: "ERR_NOT_OURS" } });
  expect((await http.ask("DELETE", `${MODULE}/upstream/u0?force=true`)).status).toBe(204);
  expect((await http.ask("GET", `${MODULE}/upstream/u0`)).status).toBe(404);
});

test("what could not be kept is told as such", async () => {
  const { http, world } = await startMemoryController();
  world.failNext = new CoreError("ERR_JOURNAL", "journal.jsonl: no space left");
  expect(await http.ask("POST", `${MODULE}/upstream`, { body: { name: "u0" } })).toMatchObject({
    status: 503,
    json: { code: "ERR_JOURNAL" },
  });
  world.failNext = new CoreError("ERR_LISTEN", "127.0.0.1:80 is taken");
  expect((await http.ask("POST", `${MODULE}/upstream`, { body: { name: "u0" } })).status).toBe(409);
});

test("an instance without a proxy says so", async () => {
  const world = new MemoryWorld({ engine: null });
  const http = await startTestController(createControl(world));
  expect(await http.ask("GET", `${MODULE}/event-loop-group`)).toMatchObject({
    status: 501,
    json: { code: "ERR_NOT_POSSIBLE_HERE" },
  });
  const all = await http.ask("GET", `${MODULE}/all`);
  expect(all.status).toBe(200);
  expect(all.json).not.toHaveProperty("event-loop-group");
});

test("a command as it is typed", async () => {
  const { http } = await startWithListener();
  const run = (command: unknown) => http.ask("POST", "/api/v1/command", { body: { command } });
  expect(await run("list tcp-lb")).toMatchObject({
    status: 200,
    json: { kind: "names", names: ["lb0"] },
  });
  expect((await run("add upstream u1")).json).toEqual({ kind: "done", note: "" });
  expect((await run("add upstream u1")).status).toBe(409);
  expect((await run("list-detail server in server-group g0")).json).toMatchObject({
    kind: "records",
    records: [{ name: "s1", "total-connections": 0 }, {}],
  });
  expect((await run("man tcp-lb")).json).toMatchObject({ kind: "text" });
  expect(await run("ad tcp-lb")).toMatchObject({ status: 400, json: { code: "ERR_USAGE" } });
  expect((await run(1)).status).toBe(400);
  const body = { line: "list tcp-lb" };
  expect(await http.ask("POST", "/api/v1/command", { body })).toMatchObject({
    status: 400,
    json: { problems: [{ path: "line" }, { path: "command" }] },
  });
});
