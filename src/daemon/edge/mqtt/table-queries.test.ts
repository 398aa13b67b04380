import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TableQueries } from "./table-queries.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp() {
  const sent: object[] = [];
  const world = { isUp: true, nowMs: 0 };
  const queries = new TableQueries(
    (message) => {
      if (world.isUp) sent.push(message);
      return world.isUp;
    },
    () => world.nowMs,
  );
  return { queries, sent, world };
}

const answer = (jobName: string, queryKey: string) => ({ jobName, queryKey, instances: [] });

test("the same is asked once at a time, and all are told the answer", async () => {
  const { queries, sent } = setUp();
  const both = [queries.ask("address", "10.30.0.1"), queries.ask("address", "10.30.0.1")];
  expect(sent).toEqual([{ sname: "", sip: "10.30.0.1" }]);
  queries.take(answer("a.b.c.d", "10.30.0.1"));
  expect((await Promise.all(both)).map((each) => each?.jobName)).toEqual(["a.b.c.d", "a.b.c.d"]);
});

test("what is not answered in time is free to be asked again", async () => {
  const { queries, sent } = setUp();
  const first = queries.ask("name", "a.b.c.d");
  vi.advanceTimersByTime(5000);
  expect(await first).toBeUndefined();
  const second = queries.ask("name", "a.b.c.d");
  queries.take(answer("a.b.c.d", ""));
  expect([(await second)?.jobName, sent.length]).toEqual(["a.b.c.d", 2]);
});

test("what nobody has is not asked for again for ten seconds, unless it is known to be there", async () => {
  const { queries, sent, world } = setUp();
  const first = queries.ask("address", "10.30.9.9");
  queries.take(answer("", "10.30.9.9"));
  expect((await first)?.jobName).toBe("");
  world.nowMs = 9999;
  expect((await queries.ask("address", "10.30.9.9"))?.jobName).toBe("");
  expect(sent.length).toBe(1);
  void queries.ask("address", "10.30.9.9", true);
  expect(sent.length).toBe(2);
  queries.close();
  world.nowMs = 10_000;
  void queries.ask("address", "10.30.9.9");
  expect(sent.length).toBe(3);
});

test("without a broker, and beyond 256 at once, nothing waits", async () => {
  const { queries, sent, world } = setUp();
  world.isUp = false;
  expect(await queries.ask("name", "a.b.c.d")).toBeUndefined();
  world.isUp = true;
  for (let each = 0; each < 256; each += 1) void queries.ask("name", `a.b.c.d${each}`);
  expect(await queries.ask("name", "one.too.many.x")).toBeUndefined();
  expect(sent.length).toBe(256);
});
