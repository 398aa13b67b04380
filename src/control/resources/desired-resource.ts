import { CoreError } from "../../core/errors.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { type Kind, keyOf, type ObjectOf } from "../../core/model/object.ts";
import { parseKind } from "../../core/model/parse.ts";
import { problemsError } from "../../core/model/problems.ts";
import type { Action, ResourceRef } from "../command.ts";
import type { EnginePort } from "../engine-port.ts";
import type {
  ActionCall,
  ActionHandler,
  CallOptions,
  ResourceHandler,
} from "../resource-handler.ts";
import type { ResourceSpec } from "../resource-spec.ts";
import { doneWith, type Result, type ResultRecord } from "../result.ts";
import type { ControlWorld, DesiredChange } from "../world.ts";
import { commitChange } from "./commit-change.ts";
import { type StateView, viewOf } from "./state-view.ts";

/** What one command would change. */
export interface Plan extends DesiredChange {
  /** For people; empty where there is nothing to say. */
  readonly note: string;
}

export const NO_CHANGE: Plan = { set: [], delete: [], note: "" };

/** A command with what it is planned against. */
export interface PlanCall extends Pick<ActionCall, "command" | "params" | "within"> {
  readonly view: StateView;
  /** Undefined where no engine could tell. */
  readonly loopGroups: readonly string[] | undefined;
  readonly options: CallOptions;
}

/** Pure: the same command and state give the same plan. @throws CoreError */
export type Planner = (call: PlanCall) => Plan;

/** The actions that change something. */
export type ChangeAction = Exclude<Action, "list" | "list-detail">;

const CHANGE_ACTIONS: readonly ChangeAction[] = ["add", "update", "remove", "force-remove"];

export type ChangePlans = Readonly<Record<ChangeAction, Planner>>;

export interface ReadCall {
  readonly within: readonly ResourceRef[];
  readonly view: StateView;
  readonly engine: EnginePort | undefined;
}

/** A resource that is objects of the store. */
export interface DesiredResource {
  readonly spec: ResourceSpec;
  readonly plans: Partial<ChangePlans>;
  /** In order. */
  readonly names: (call: ReadCall) => readonly string[];
  /** In the same order. */
  readonly records: (call: ReadCall) => readonly ResultRecord[];
  readonly examine?: ResourceHandler["examine"];
}

/** The actions of a resource on a running instance. */
export function handlerOf(resource: DesiredResource): ResourceHandler {
  const actions: Partial<Record<Action, ActionHandler>> = {
    list: (call) => ({ kind: "names", names: resource.names(readCallOf(call)) }),
    "list-detail": (call) => ({ kind: "records", records: resource.records(readCallOf(call)) }),
  };
  const change: ActionHandler = (call) => carryOut(resource, call);
  for (const action of CHANGE_ACTIONS) {
    if (resource.plans[action] !== undefined) actions[action] = change;
  }
  const { spec, examine } = resource;
  return { spec, actions, ...(examine === undefined ? {} : { examine }) };
}

async function carryOut(resource: DesiredResource, call: ActionCall): Promise<Result> {
  const { world } = call;
  const plan = planOf(resource, {
    ...call,
    view: viewOf(world.store),
    loopGroups: loopGroupsOf(world),
  });
  const change = withoutSame(plan, viewOf(world.store));
  return doneWith(plan.note, await commitChange(world, change));
}

export function planOf(resource: DesiredResource, call: PlanCall): Plan {
  const { action } = call.command;
  const planner =
    action === "list" || action === "list-detail" ? undefined : resource.plans[action];
  if (planner === undefined) {
    const what = `${action} ${resource.spec.name}`;
    throw new CoreError(
      "ERR_USAGE",
      `${what}: there is no such command; see man ${resource.spec.name}`,
    );
  }
  return planner(call);
}

/** The names of the groups of event loops; undefined where there is no engine to ask. */
export function loopGroupsOf(world: ControlWorld): readonly string[] | undefined {
  return world.engine?.loopGroups().map(({ name }) => name);
}

/** Leaves out what is so already. */
function withoutSame(change: DesiredChange, view: StateView): DesiredChange {
  const set = change.set.filter(
    (object) => !deepEqual(view.get(object.kind, keyOf(object)), object),
  );
  const { delete: removed, tolerates } = change;
  return { set, delete: removed, ...(tolerates === undefined ? {} : { tolerates }) };
}

function readCallOf({ within, world }: ActionCall): ReadCall {
  return { within, view: viewOf(world.store), engine: world.engine };
}

/**
 * The object in the one spelling of its kind.
 * @throws CoreError ERR_USAGE
 */
export function checked<K extends Kind>(kind: K, object: ObjectOf<K>): ObjectOf<K> {
  try {
    return parseKind(kind, object);
  } catch (error) {
    if (error instanceof CoreError)
      throw problemsError("ERR_USAGE", error.problems, { cause: error });
    throw error;
  }
}
