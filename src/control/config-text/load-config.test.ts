import { setImmediate as nextRound } from "node:timers/promises";
import { expect, test } from "vitest";
import { parseObject } from "../../core/model/parse.ts";
import { Turns } from "../../core/turns.ts";
import { MemoryWorld } from "../control-world.fixture.ts";
import { TypedControl } from "../typed.fixture.ts";
import { loadConfig, MAX_STEPS } from "./load-config.ts";
import type { ConfigStep } from "./read-config.ts";

test("more than others could wait for is not loaded at once, and nothing of it", async () => {
  const world = new MemoryWorld();
  const object = parseObject({ kind: "Group", name: "g" });
  const step: ConfigStep = { kind: "object", object, at: "/site.conf:1" };
  const steps = Array.from({ length: MAX_STEPS + 1 }, () => step);
  await expect(loadConfig(steps, world, new Turns())).rejects.toMatchObject({
    code: "ERR_STATE_TOO_LARGE",
    message:
      "100001 commands are more than the 100000 that are loaded at once; load them in parts: each adds to what is there",
  });
  expect(world.commits).toEqual([]);
});

const SERVERS = 2000;

/** Of a group that is there already. */
function manyServers(): string {
  const lines = Array.from(
    { length: SERVERS },
    (_, index) => `add server s${index} to server-group g0 address 10.0.0.1:${index + 1}`,
  );
  return lines.join("\n");
}

async function withManyServers(): Promise<TypedControl> {
  const instance = new TypedControl();
  await instance.type("add server-group g0");
  instance.world.files.set("/many.conf", manyServers());
  return instance;
}

test("others change and look while a long one is planned, and it comes into force at once", async () => {
  const instance = await withManyServers();
  const state = { isOver: false, changes: 0, looks: new Set<number>() };
  const done = instance.type("load /many.conf").finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    await nextRound();
    await instance.type(`add upstream u${state.changes}`);
    state.looks.add((await instance.names("list server in server-group g0")).length);
    state.changes += 1;
  }
  expect(await done).toMatchObject({ note: "2000 commands, 2000 objects set" });
  // Reading and planning have a turn of others after each fifty lines.
  expect(state.changes).toBeGreaterThan(SERVERS / 50);
  expect([...state.looks]).toEqual([0, SERVERS]);
  expect(instance.world.commits.filter(({ set }) => set.length === SERVERS)).toHaveLength(1);
});

test.each([
  ["still fits", "update server-group g0 method wlc", "2000 commands, 2000 objects set"],
  ["does not any more", "add server s7 to server-group g0 address 10.9.9.9:1", "/many.conf:8: "],
])("what it was planned on is changed before its turn: it %s", async (_what, line, words) => {
  const instance = await withManyServers();
  instance.world.prepare = async () => {
    await instance.type(line);
  };
  const outcome = await instance.type("load /many.conf").then(
    (result) => (result.kind === "done" ? result.note : ""),
    (error: unknown) => String(error),
  );
  expect(outcome).toContain(words);
});
