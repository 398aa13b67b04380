import { setImmediate as pause } from "node:timers/promises";
import { CoreError } from "../../core/errors.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { keyOf, type ModelObject } from "../../core/model/object.ts";
import type { ResourceCommand } from "../command.ts";
import { checkCommand } from "../grammar/check-command.ts";
import { ParamReader } from "../grammar/read-params.ts";
import { pauseAt } from "../pause.ts";
import type { ActionCall } from "../resource-handler.ts";
import { commitChange } from "../resources/commit-change.ts";
import { loopGroupsOf, planOf, withoutSame } from "../resources/desired-resource.ts";
import { nameOfKey } from "../resources/names.ts";
import { danglingOf, wordsFor } from "../resources/references.ts";
import { taken } from "../resources/refusals.ts";
import { Draft, viewOf } from "../resources/state-view.ts";
import { desiredOf, HANDLERS, RESOURCES } from "../resources/table.ts";
import type { Result } from "../result.ts";
import { CONTROL_OWNER, type ControlWorld, type RuntimeEntry } from "../world.ts";
import { locate } from "./object-line.ts";
import type { ConfigStep } from "./read-config.ts";

/** A note names at most this many references that lead nowhere. */
const MAX_NAMED = 10;
const LOADING = { isLoading: true } as const;
/** All of it comes into force at once, which holds up others: a second or two for so many. */
export const MAX_STEPS = 100_000;

/**
 * Makes all of a configuration true beside what is there, or nothing of it. First all of it is
 * planned, then loops and controllers are made, then the objects, in one change; where that fails
 * the loops and controllers go again.
 * @throws CoreError that names the line; ERR_STATE_TOO_LARGE
 */
export async function loadConfig(
  steps: readonly ConfigStep[],
  world: ControlWorld,
): Promise<Result> {
  if (steps.length > MAX_STEPS) throw tooLong(steps.length);
  const view = viewOf(world.store);
  const draft = new Draft(view);
  const running: ConfigStep[] = [];
  for (const [index, step] of steps.entries()) {
    await pauseAt(index);
    if (step.kind === "command" && desiredOf(step.command.type) === undefined) running.push(step);
    else locating(step, () => planStep(step, draft));
  }
  const change = withoutSame(draft.change(), view);
  await pause();
  const before = [...world.kept()];
  try {
    for (const step of running) await startStep(step, world);
    await commitChange(world, change);
  } catch (error) {
    await endAgain(world, before, error);
    throw error;
  }
  await pause();
  return { kind: "done", note: noteOf(steps.length, change.set, world) };
}

function tooLong(steps: number): CoreError {
  return new CoreError(
    "ERR_STATE_TOO_LARGE",
    `${steps} commands are more than the ${MAX_STEPS} that are loaded at once; load them in parts: each adds to what is there`,
  );
}

function locating<T>(step: ConfigStep, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof CoreError ? locate(error, step.at) : error;
  }
}

function planStep(step: ConfigStep, draft: Draft): void {
  if (step.kind === "object") {
    placeObject(step.object, draft);
    return;
  }
  const { command } = step;
  const resource = desiredOf(command.type);
  if (resource === undefined) return;
  const { within } = command;
  draft.apply(
    planOf(resource, {
      command,
      within,
      params: paramsOf(command),
      view: draft,
      loopGroups: undefined,
      options: LOADING,
    }),
  );
}

function placeObject(object: ModelObject, draft: Draft): void {
  const key = keyOf(object);
  const present = draft.get(object.kind, key);
  const owner = draft.ownerOf(object.kind, key);
  if (present === undefined) draft.apply({ set: [object], delete: [] });
  else if (owner !== CONTROL_OWNER || !deepEqual(present, object)) {
    throw taken(wordsFor(object), `${wordsFor(present)} of the owner ${JSON.stringify(owner)}`);
  }
}

function paramsOf(command: ResourceCommand): ParamReader {
  return new ParamReader(command.params, checkCommand(command, RESOURCES).params);
}

/** Loops and controllers are added at once; other things that run are no part of a configuration. */
async function startStep(step: ConfigStep, world: ControlWorld): Promise<void> {
  if (step.kind !== "command") return;
  const { command, at } = step;
  const { type, action } = command;
  const isKept = type.startsWith("event-loop") || type.endsWith("-controller");
  if (action !== "add" || !isKept) {
    throw new CoreError(
      "ERR_USAGE",
      `${at}: ${action} ${type} has no place in a configuration; expected add of event-loop-group, event-loop, resp-controller or http-controller`,
    );
  }
  try {
    await carryOut(command, world);
  } catch (error) {
    throw error instanceof CoreError ? locate(error, at) : error;
  }
}

async function carryOut(command: ResourceCommand, world: ControlWorld): Promise<void> {
  const { type, action, within } = command;
  const handler = HANDLERS.find(({ spec }) => spec.name === type)?.actions[action];
  if (handler === undefined) throw new CoreError("ERR_USAGE", `there is no ${action} ${type}`);
  const call: ActionCall = { command, within, params: paramsOf(command), world, options: LOADING };
  await handler(call);
}

/**
 * Takes away what is kept now and was not before, the last first.
 * @throws CoreError that tells both, where that fails too
 */
async function endAgain(
  world: ControlWorld,
  before: readonly RuntimeEntry[],
  cause: unknown,
): Promise<void> {
  const old = new Set(before.map((entry) => JSON.stringify(entry)));
  const added = world.kept().filter((entry) => !old.has(JSON.stringify(entry)));
  for (const entry of added.reverse()) {
    try {
      await carryOut(removalOf(entry), world);
    } catch (error) {
      if (!(error instanceof CoreError && cause instanceof CoreError)) throw error;
      const left = `and ${entry.kind} ${entry.name}, made for it, is still there: ${error.message}`;
      throw new CoreError(cause.code, `${cause.message}; ${left}`, { cause });
    }
  }
}

function removalOf(entry: RuntimeEntry): ResourceCommand {
  const base = { kind: "resource", action: "remove", name: entry.name, params: new Map() } as const;
  switch (entry.kind) {
    case "event-loop-group":
      return { ...base, type: entry.kind, within: [] };
    case "event-loop":
      return {
        ...base,
        type: entry.kind,
        within: [{ type: "event-loop-group", name: entry.group }],
      };
    case "controller":
      return { ...base, type: entry.type, within: [] };
  }
}

function noteOf(lines: number, changed: readonly ModelObject[], world: ControlWorld): string {
  const view = viewOf(world.store);
  const loopGroups = loopGroupsOf(world);
  const dangling = changed.flatMap((object) =>
    danglingOf(object, view, loopGroups).map(
      ({ type, key }) => `${wordsFor(object)} names ${type} ${nameOfKey(key)}`,
    ),
  );
  const done = `${count(lines, "command")}, ${count(changed.length, "object")} set`;
  if (dangling.length === 0) return done;
  const named = dangling.slice(0, MAX_NAMED).join(", ");
  const more = dangling.length > MAX_NAMED ? ` and ${dangling.length - MAX_NAMED} more` : "";
  return `${done}; not there (yet): ${named}${more}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
