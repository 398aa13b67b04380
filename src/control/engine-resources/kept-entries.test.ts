import { expect, test } from "vitest";
import { MemoryWorld } from "../control-world.fixture.ts";
import type { RuntimeChange } from "../world.ts";
import { endKept } from "./kept-entries.ts";

test("what ends is forgotten by its kind and name, and by nothing else", async () => {
  const world = new MemoryWorld();
  await world.keep({ add: [{ kind: "event-loop", name: "el0", group: "elg0" }], remove: [] });
  const changes: RuntimeChange[] = [];
  const keep = world.keep.bind(world);
  world.keep = (change) => {
    changes.push(change);
    return keep(change);
  };
  await endKept(
    world,
    ({ name }) => name === "el0",
    async () => undefined,
  );
  expect(changes).toEqual([{ add: [], remove: [{ kind: "event-loop", name: "el0" }] }]);
  expect(world.kept()).toEqual([]);
});
