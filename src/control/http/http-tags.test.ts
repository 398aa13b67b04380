import { setImmediate as nextRound } from "node:timers/promises";
import { expect, test } from "vitest";
import { TinyControl } from "../tiny-control.fixture.ts";
import { CONSOLE } from "../typed.fixture.ts";
import { startTestController, startWithListener } from "./http-controller.fixture.ts";

const MODULE = "/api/v1/module";

test("tags tell whether something has changed", async () => {
  const { http } = await startWithListener();
  const lb = `${MODULE}/tcp-lb/lb0`;
  const first = await http.ask("GET", lb);
  const tag = String(first.headers.etag);
  const again = await http.ask("GET", lb, { headers: { "if-none-match": `"x", ${tag}` } });
  expect(again).toMatchObject({ status: 304, text: "", headers: { etag: tag } });

  const put = (ifMatch: string) =>
    http.ask("PUT", lb, { body: { timeout: 60_000 }, headers: { "if-match": ifMatch } });
  expect((await put(tag)).status).toBe(204);
  expect(await put(tag)).toMatchObject({ status: 412, json: { code: "ERR_REFUSED" } });
  expect((await http.ask("DELETE", lb, { headers: { "if-match": tag } })).status).toBe(412);
  const changed = await http.ask("GET", lb, { headers: { "if-none-match": tag } });
  expect(changed.status).toBe(200);
  expect((await put(String(changed.headers.etag))).status).toBe(204);
  expect((await put("*")).status).toBe(204);
});

test("counters that move are another body, though the state is the same", async () => {
  const control = new TinyControl();
  const http = await startTestController(control);
  control.records = [{ name: "lb0", connections: 1 }];
  const { etag } = (await http.ask("GET", `${MODULE}/tcp-lb`)).headers;
  control.records = [{ name: "lb0", connections: 2 }];
  const headers = { "if-none-match": String(etag) };
  expect((await http.ask("GET", `${MODULE}/tcp-lb`, { headers })).status).toBe(200);
});

test("of two changes with the same tag one is refused", async () => {
  const { http, world } = await startWithListener();
  const lb = `${MODULE}/tcp-lb/lb0`;
  const { etag } = (await http.ask("GET", lb)).headers;
  const waits = Promise.resolve();
  world.beforeCommit = () => waits;
  const put = (timeout: number) =>
    http.ask("PUT", lb, { body: { timeout }, headers: { "if-match": String(etag) } });
  const statuses = (await Promise.all([put(1000), put(2000), put(3000)])).map(
    ({ status }) => status,
  );
  expect(statuses.sort()).toEqual([204, 412, 412]);
});

test("a change by somebody else that comes first counts, whoever that is", async () => {
  const { http, world, control } = await startWithListener();
  const lb = `${MODULE}/tcp-lb/lb0`;
  const { etag } = (await http.ask("GET", lb)).headers;
  // Longer than the request takes to come to its turn.
  world.beforeCommit = async () => {
    for (let round = 0; round < 200; round += 1) await nextRound();
  };
  const typed = control.run(control.parse("update tcp-lb lb0 timeout 5000"), CONSOLE);
  const put = http.ask("PUT", lb, {
    body: { timeout: 1000 },
    headers: { "if-match": String(etag) },
  });
  await typed;
  expect((await put).status).toBe(412);
  expect((await http.ask("GET", lb)).json).toMatchObject({ timeout: 5000 });
});
