import { CoreError } from "../../core/errors.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { keyOf, type ModelObject } from "../../core/model/object.ts";
import type { Turns } from "../../core/turns.ts";
import type { ResourceCommand } from "../command.ts";
import { checkCommand } from "../grammar/check-command.ts";
import { ParamReader } from "../grammar/read-params.ts";
import { LINES_A_TURN, pauseAt } from "../pause.ts";
import type { ActionCall } from "../resource-handler.ts";
import { commitChange } from "../resources/commit-change.ts";
import { loopGroupsOf, planOf } from "../resources/desired-resource.ts";
import { nameOfKey } from "../resources/names.ts";
import { danglingOf, wordsFor } from "../resources/references.ts";
import { taken } from "../resources/refusals.ts";
import { Draft, type StateView, viewOf } from "../resources/state-view.ts";
import { desiredOf, HANDLERS, RESOURCES } from "../resources/table.ts";
import { TrackedView } from "../resources/tracked-view.ts";
import { doneWith, type Result } from "../result.ts";
import {
  CONTROL_OWNER,
  type ControlWorld,
  type DesiredChange,
  type RuntimeEntry,
} from "../world.ts";
import { locate } from "./object-line.ts";
import type { ConfigStep } from "./read-config.ts";

/** A note names at most this many references that lead nowhere. */
const MAX_NAMED = 10;
const LOADING = { isLoading: true } as const;
/** All of it comes into force at once, and for that long others wait: some tenths of a second for so many. */
export const MAX_STEPS = 100_000;

/** What a configuration comes to. */
interface LoadPlan {
  readonly change: DesiredChange;
  /** Loops and controllers to be started. */
  readonly running: readonly ConfigStep[];
}

interface Loaded {
  readonly change: DesiredChange;
  /** What is still under way of it. */
  readonly note: string;
}

/**
 * Makes all of a configuration true beside what is there, or nothing of it. First all of it is
 * planned, then loops and controllers are made, then the objects, in one change; where that fails
 * the loops and controllers go again.
 *
 * A long one is planned before its turn, and others go on meanwhile. Only where one of them changes what
 * it was planned on it is planned again, in its turn.
 * @throws CoreError that names the line; ERR_STATE_TOO_LARGE
 */
export async function loadConfig(
  steps: readonly ConfigStep[],
  world: ControlWorld,
  turns: Turns,
): Promise<Result> {
  if (steps.length > MAX_STEPS) throw tooLong(steps.length);
  const tracked = new TrackedView(world.store);
  try {
    const isLong = steps.length > LINES_A_TURN;
    const early = isLong ? await planAhead(steps, tracked, world) : undefined;
    const load = async (): Promise<Loaded> => {
      const isGood = early !== undefined && !tracked.isStale;
      const plan = isGood ? early : await planSteps(steps, viewOf(world.store));
      return { change: plan.change, note: await makeSo(plan, world) };
    };
    const { change, note } = await turns.take(load, { isLong });
    return doneWith(await noteOf(steps.length, change.set, world), note);
  } finally {
    tracked.close();
  }
}

/** @returns undefined where it is not to be told before its turn */
async function planAhead(
  steps: readonly ConfigStep[],
  tracked: TrackedView,
  world: ControlWorld,
): Promise<LoadPlan | undefined> {
  try {
    const plan = await planSteps(steps, tracked);
    await world.prepare(plan.change.set);
    return plan;
  } catch (error) {
    if (tracked.isStale) return undefined;
    throw error;
  }
}

async function planSteps(steps: readonly ConfigStep[], view: StateView): Promise<LoadPlan> {
  const draft = new Draft(view);
  const running: ConfigStep[] = [];
  for (const [index, step] of steps.entries()) {
    await pauseAt(index);
    if (step.kind === "command" && desiredOf(step.command.type) === undefined) running.push(step);
    else locating(step, () => planStep(step, draft));
  }
  return { change: await changeOf(draft, view), running };
}

/** All that differs from what is there. */
async function changeOf(draft: Draft, view: StateView): Promise<DesiredChange> {
  const { set, delete: gone } = draft.change();
  const different: ModelObject[] = [];
  for (const [index, object] of set.entries()) {
    await pauseAt(index);
    if (!deepEqual(view.get(object.kind, keyOf(object)), object)) different.push(object);
  }
  return { set: different, delete: gone };
}

async function makeSo({ change, running }: LoadPlan, world: ControlWorld): Promise<string> {
  const before = [...world.kept()];
  try {
    for (const step of running) await startStep(step, world);
    return await commitChange(world, change);
  } catch (error) {
    await endAgain(world, before, error);
    throw error;
  }
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
  const isKept =
    type.startsWith("event-loop") || type.endsWith("-controller") || type.endsWith("-delegate");
  if (action !== "add" || !isKept) {
    throw new CoreError(
      "ERR_USAGE",
      `${at}: ${action} ${type} has no place in a configuration; expected add of event-loop-group, event-loop, a delegate, resp-controller or http-controller`,
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
    case "smart-group-delegate":
    case "smart-node-delegate":
      return { ...base, type: entry.kind, within: [] };
  }
}

async function noteOf(
  lines: number,
  changed: readonly ModelObject[],
  world: ControlWorld,
): Promise<string> {
  const view = viewOf(world.store);
  const loopGroups = loopGroupsOf(world);
  const dangling: string[] = [];
  for (const [index, object] of changed.entries()) {
    await pauseAt(index);
    for (const { type, key } of danglingOf(object, view, loopGroups)) {
      dangling.push(`${wordsFor(object)} names ${type} ${nameOfKey(key)}`);
    }
  }
  const done = `${count(lines, "command")}, ${count(changed.length, "object")} set`;
  if (dangling.length === 0) return done;
  const named = dangling.slice(0, MAX_NAMED).join(", ");
  const more = dangling.length > MAX_NAMED ? ` and ${dangling.length - MAX_NAMED} more` : "";
  return `${done}; not there (yet): ${named}${more}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
