import { problemsError } from "../../core/model/problems.ts";
import type { EngineChannel, EnginePort, LoopGroupState } from "../engine-port.ts";
import type { ActionCall, ResourceHandler } from "../resource-handler.ts";
import { innerNameProblem } from "../resources/names.ts";
import { usersOfLoopGroup } from "../resources/references.ts";
import { viewOf } from "../resources/state-view.ts";
import { DONE, type Result, type ResultRecord } from "../result.ts";
import type { RuntimeEntry } from "../world.ts";
import { engineOf } from "./engine-of.ts";
import { endKept, keepOr } from "./kept-entries.ts";
import { findLoop, findLoopGroup } from "./scope.ts";

export const EVENT_LOOP: ResourceHandler = {
  spec: {
    name: "event-loop",
    shorts: ["el"],
    summary: "A thread that accepts and serves connections; its name is its own in all groups",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [["event-loop-group"]],
        actions: {
          add: {
            help: "Starts a loop in a group; it takes its share of new connections at once",
            params: [],
            examples: ["add event-loop el0 to event-loop-group elg0"],
          },
          list: {
            help: "Shows the names of the loops of a group",
            params: [],
            examples: ["list event-loop in event-loop-group elg0"],
          },
          "list-detail": {
            help: "Shows the loops of a group with how much is open in them",
            params: [],
            examples: ["list-detail event-loop in event-loop-group elg0"],
          },
          remove: {
            help: "Ends a loop: others accept in its place at once, and what is open in it may end by itself",
            params: [],
            examples: ["remove event-loop el0 from event-loop-group elg0"],
          },
          "force-remove": {
            help: "Ends a loop just as remove does, which nothing can stand in the way of",
            params: [],
            examples: ["force-remove event-loop el0 from event-loop-group elg0"],
          },
        },
      },
    ],
  },
  actions: {
    add,
    list: (call) => ({ kind: "names", names: groupIn(call).loops }),
    "list-detail": async (call) => ({ kind: "records", records: await recordsOf(call) }),
    remove,
    "force-remove": remove,
  },
};

function groupIn({ within, world }: ActionCall): LoopGroupState {
  return findLoopGroup(within[0]?.name ?? "", engineOf(world));
}

async function add(call: ActionCall): Promise<Result> {
  const { command, world, options } = call;
  const { name } = command;
  const engine = engineOf(world);
  const problem = innerNameProblem(name);
  if (problem !== undefined) throw problemsError("ERR_USAGE", [problem]);
  const { name: group, loops } = groupIn(call);
  if (options.isLoading && loops.includes(name)) return DONE;
  await engine.addLoop(name, group);
  await keepOr(world, { kind: "event-loop", name, group }, () => engine.removeLoop(name));
  return DONE;
}

async function remove(call: ActionCall): Promise<Result> {
  const { command, world } = call;
  const engine = engineOf(world);
  const group = groupIn(call);
  const name = findLoop(command.name, group.name, engine);
  const isOne = (entry: RuntimeEntry): boolean =>
    entry.kind === "event-loop" && entry.name === name;
  const wasKept = world.kept().some(isOne);
  await endKept(world, isOne, () => engine.removeLoop(name));
  return { kind: "done", note: noteOf(call, group, wasKept, engine) };
}

/** What is not as one might think. */
function noteOf(
  { world }: ActionCall,
  { name, isDefault }: LoopGroupState,
  wasKept: boolean,
  engine: EnginePort,
): string {
  const notes = ["connections that it has may end by themselves"];
  if (isDefault && !wasKept) notes.push("the next start has as many loops as --loops says");
  const isEmpty = findLoopGroup(name, engine).loops.length === 0;
  const users = isEmpty ? usersOfLoopGroup(viewOf(world.store), name) : [];
  if (users.length > 0) notes.push(`${users.join(", ")}: other loops serve until it has one again`);
  return notes.join("; ");
}

async function recordsOf(call: ActionCall): Promise<readonly ResultRecord[]> {
  const { name: group, loops } = groupIn(call);
  const channels = await engineOf(call.world).channels();
  return loops.map((name) => {
    const own = channels.filter(({ loop }) => loop === name);
    const count = (kind: EngineChannel["kind"]): number =>
      own.filter((channel) => channel.kind === kind).length;
    return {
      name,
      "event-loop-group": group,
      "server-socks": count("server-sock"),
      connections: count("connection"),
      sessions: count("session"),
    };
  });
}
