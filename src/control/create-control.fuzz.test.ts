import fc from "fast-check";
import { expect, test } from "vitest";
import { CoreError } from "../core/errors.ts";
import { deepEqual } from "../core/model/equal.ts";
import { groupKeyOf, KINDS, type ModelObject } from "../core/model/object.ts";
import { parseObject } from "../core/model/parse.ts";
import type { ResourceCommand } from "./command.ts";
import { randomCommand, wildCommand } from "./random-commands.fixture.ts";
import { loopGroupsOf } from "./resources/desired-resource.ts";
import { danglingOf, NO_GROUP } from "./resources/references.ts";
import { type StateView, viewOf } from "./resources/state-view.ts";
import { CONSOLE, TypedControl } from "./typed.fixture.ts";

const RUNS = { numRuns: 40 } as const;
const COMMANDS = { minLength: 20, maxLength: 60 } as const;

/** Carries it out; a command that is refused must have changed nothing. Tells whether it was carried out. */
async function tryCommand(instance: TypedControl, command: ResourceCommand): Promise<boolean> {
  const { revision } = instance.control;
  try {
    await instance.control.run(command, CONSOLE);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(CoreError);
    expect(instance.control.revision).toBe(revision);
    return false;
  }
}

function allObjects({ world }: TypedControl): readonly ModelObject[] {
  return KINDS.flatMap((kind) => [...world.store.objects(kind)]);
}

/** What no command may break. */
function brokenInvariants(instance: TypedControl): readonly string[] {
  const view = viewOf(instance.world.store);
  return allObjects(instance).flatMap((object) =>
    [spellingFault(object), placeFault(object, view), groupFault(object)]
      .filter((fault) => fault !== "")
      .map((fault) => `${JSON.stringify(object)} ${fault}`),
  );
}

function spellingFault(object: ModelObject): string {
  return deepEqual(parseObject(object), object) ? "" : "is not in its one spelling";
}

function placeFault(object: ModelObject, view: StateView): string {
  if (object.kind !== "Endpoint") return "";
  const key = groupKeyOf(object);
  const holder = view.get("Group", key) ?? view.get("Service", key);
  return holder === undefined ? "is in nothing" : "";
}

function groupFault(object: ModelObject): string {
  if (object.kind !== "Service") return "";
  const { type, groups } = object;
  const isNowhere = groups.some(({ group }) => group === NO_GROUP);
  if (isNowhere && groups.length > 1) return "leads somewhere and nowhere";
  return type === "Plain" && groups.length === 0 ? "has an implicit group" : "";
}

test("random commands break nothing, and are refused by codes", async () => {
  let carriedOut = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(randomCommand(), COMMANDS), async (commands) => {
      const instance = new TypedControl();
      for (const command of commands) if (await tryCommand(instance, command)) carriedOut += 1;
      expect(brokenInvariants(instance)).toEqual([]);
    }),
    RUNS,
  );
  // Else the commands would not be such that much can be broken.
  expect(carriedOut).toBeGreaterThan(RUNS.numRuns * 5);
});

test("without force nothing leads nowhere", async () => {
  const gentle = randomCommand(["add", "update", "remove"]);
  await fc.assert(
    fc.asyncProperty(fc.array(gentle, COMMANDS), async (commands) => {
      const instance = new TypedControl();
      for (const command of commands) await tryCommand(instance, command);
      const view = viewOf(instance.world.store);
      const loops = loopGroupsOf(instance.world);
      expect(allObjects(instance).flatMap((object) => danglingOf(object, view, loops))).toEqual([]);
    }),
    RUNS,
  );
});

test("commands with names and values of any kind are refused by codes too", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(wildCommand(), COMMANDS), async (commands) => {
      const instance = new TypedControl();
      for (const command of commands) await tryCommand(instance, command);
      expect(brokenInvariants(instance)).toEqual([]);
    }),
    RUNS,
  );
});
