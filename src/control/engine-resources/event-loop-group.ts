import { problemsError } from "../../core/model/problems.ts";
import type { ActionCall, ResourceHandler } from "../resource-handler.ts";
import { innerNameProblem } from "../resources/names.ts";
import { usersOfLoopGroup } from "../resources/references.ts";
import { inUse } from "../resources/refusals.ts";
import { viewOf } from "../resources/state-view.ts";
import { DONE, type Result, type ResultRecord } from "../result.ts";
import type { ControlWorld, RuntimeEntry } from "../world.ts";
import { engineOf } from "./engine-of.ts";
import { endKept, keepOr } from "./kept-entries.ts";
import { findLoopGroup } from "./scope.ts";

export const EVENT_LOOP_GROUP: ResourceHandler = {
  spec: {
    name: "event-loop-group",
    shorts: ["elg"],
    summary: "Event loops that share the work of listeners; one group is there from the start",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [[]],
        actions: {
          add: {
            help: "Adds a group without loops; listeners that name it use it as soon as it has one",
            params: [],
            examples: ["add event-loop-group elg0"],
          },
          list: {
            help: "Shows the names of all groups of event loops",
            params: [],
            examples: ["list event-loop-group"],
          },
          "list-detail": {
            help: "Shows all groups of event loops with their loops and the listeners that name them",
            params: [],
            examples: ["list-detail event-loop-group"],
          },
          remove: {
            help: "Removes a group with its loops; refused while a listener names it; what is open in its loops may end by itself",
            params: [],
            examples: ["remove event-loop-group elg0"],
          },
          "force-remove": {
            help: "Removes a group with its loops whoever names it: those use the group that is there from the start",
            params: [],
            examples: ["force-remove event-loop-group elg0"],
          },
        },
      },
    ],
  },
  actions: {
    add,
    list: ({ world }) => {
      const names = engineOf(world)
        .loopGroups()
        .map(({ name }) => name);
      return { kind: "names", names };
    },
    "list-detail": ({ world }) => ({ kind: "records", records: recordsOf(world) }),
    remove,
    "force-remove": remove,
  },
};

async function add({ command: { name }, world, options }: ActionCall): Promise<Result> {
  const engine = engineOf(world);
  const problem = innerNameProblem(name);
  if (problem !== undefined) throw problemsError("ERR_USAGE", [problem]);
  const isThere = engine.loopGroups().some((group) => group.name === name);
  if (isThere && options.isLoading) return DONE;
  await engine.addLoopGroup(name);
  await keepOr(world, { kind: "event-loop-group", name }, () => engine.removeLoopGroup(name));
  return DONE;
}

async function remove({ command: { name, action }, world }: ActionCall): Promise<Result> {
  const engine = engineOf(world);
  const { loops } = findLoopGroup(name, engine);
  const users = usersOfLoopGroup(viewOf(world.store), name);
  if (users.length > 0 && action === "remove") throw inUse(`event-loop-group ${name}`, users);
  await endKept(
    world,
    (entry) => isOf(entry, name),
    () => engine.removeLoopGroup(name),
  );
  return loops.length === 0
    ? DONE
    : { kind: "done", note: "connections that its loops have may end by themselves" };
}

function isOf(entry: RuntimeEntry, group: string): boolean {
  if (entry.kind === "event-loop-group") return entry.name === group;
  return entry.kind === "event-loop" && entry.group === group;
}

function recordsOf(world: ControlWorld): readonly ResultRecord[] {
  const view = viewOf(world.store);
  return engineOf(world)
    .loopGroups()
    .map(({ name, loops, isDefault }) => ({
      name,
      loops,
      default: isDefault,
      "used-by": usersOfLoopGroup(view, name),
    }));
}
