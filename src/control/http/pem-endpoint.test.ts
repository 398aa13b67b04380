import { generate } from "selfsigned";
import { beforeAll, expect, test } from "vitest";
import { MemoryWorld } from "../control-world.fixture.ts";
import { createControl } from "../create-control.ts";
import { startTestController, type TestController } from "./http-controller.fixture.ts";

const PEM = "/api/v1/module/cert-key/pem";

interface Pair {
  readonly cert: string;
  readonly key: string;
}

let first: Pair;
let second: Pair;

beforeAll(async () => {
  const make = async (name: string): Promise<Pair> => {
    const { cert, private: key } = await generate([{ name: "commonName", value: name }]);
    return { cert, key };
  };
  [first, second] = await Promise.all([make("a.example"), make("b.example")]);
});

async function start(): Promise<{ readonly http: TestController; readonly world: MemoryWorld }> {
  const world = new MemoryWorld();
  const keepFile = world.keepFile.bind(world);
  return { http: await startTestController(createControl(world), { keepFile }), world };
}

test("certificates that are sent as text are kept, and can be replaced", async () => {
  const { http, world } = await start();
  const body = { name: "site", certs: [first.cert, second.cert], key: first.key };
  expect(await http.ask("POST", PEM, { body })).toMatchObject({
    status: 201,
    headers: { location: "/api/v1/module/cert-key/site" },
  });
  const read = async (): Promise<unknown> =>
    (await http.ask("GET", "/api/v1/module/cert-key/site")).json;
  const before = await read();
  expect(before).toMatchObject({
    name: "site",
    certs: [expect.stringMatching(/^\/kept\/site-[0-9a-f]+\.cert\.pem$/)],
    key: expect.stringMatching(/^\/kept\/site-[0-9a-f]+\.key\.pem$/),
  });
  const kept = world.files.get(String(Reflect.get(Object(before), "certs")));
  expect(kept).toBe(`${first.cert.trim()}\n${second.cert.trim()}\n`);

  const renewed = { certs: [second.cert], key: second.key };
  const path = "/api/v1/module/cert-key/site/pem";
  expect((await http.ask("PUT", path, { body: renewed })).status).toBe(204);
  const after = await read();
  expect(after).not.toEqual(before);
  // What is in use stays as it was.
  expect(world.files.get(String(Reflect.get(Object(before), "certs")))).toBe(kept);
});

test("all that is wrong is told, and no key is shown", async () => {
  const { http, world } = await start();
  const before = world.files.size;
  const wrong = { name: "site", certs: [first.cert, "nonsense", 7], key: second.key, kee: "" };
  const { status, text, json } = await http.ask("POST", PEM, { body: wrong });
  expect(status).toBe(400);
  expect(json).toMatchObject({
    problems: [
      { path: "kee" },
      { path: "certs[1]" },
      { path: "certs[2]" },
      { path: "key", value: "(hidden)", expected: "the private key of the first certificate" },
    ],
  });
  expect(text).not.toContain("PRIVATE");
  for (const body of [{}, { certs: [], key: "x" }, { certs: "x", key: 1 }, []]) {
    expect((await http.ask("POST", PEM, { body })).status).toBe(400);
  }
  const unnamed = { certs: [first.cert], key: first.key };
  expect(await http.ask("POST", PEM, { body: unnamed })).toMatchObject({
    status: 400,
    json: { problems: [{ path: "name" }] },
  });
  expect(world.files.size).toBe(before);
});

test("files of an upload that is refused do not stay, and those in use do", async () => {
  const { http, world } = await start();
  const body = { name: "site", certs: [first.cert], key: first.key };
  expect((await http.ask("POST", PEM, { body })).status).toBe(201);
  const before = [...world.files.keys()];
  expect((await http.ask("POST", PEM, { body })).status).toBe(409);
  const other = { name: "site", certs: [second.cert], key: second.key };
  expect((await http.ask("POST", PEM, { body: other })).status).toBe(409);
  const headers = { "if-match": '"of.1.another"' };
  const path = "/api/v1/module/cert-key/site/pem";
  expect((await http.ask("PUT", path, { body: other, headers })).status).toBe(412);
  expect([...world.files.keys()].filter((name) => !name.endsWith(".bak"))).toEqual(before);
});
