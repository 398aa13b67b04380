import { CoreError } from "../../core/errors.ts";
import { problemsError } from "../../core/model/problems.ts";
import { formatListenAddress } from "../../core/options/listen-address.ts";
import type { Action } from "../command.ts";
import type { ActionCall, ActionHandler, ResourceHandler } from "../resource-handler.ts";
import type { ActionSpec, ParamSpec } from "../resource-spec.ts";
import { DONE, type Result, type ResultRecord } from "../result.ts";
import type { ControllerState, ControlWorld, RuntimeEntry } from "../world.ts";
import { innerNameProblem } from "./names.ts";
import { notFound, taken } from "./refusals.ts";

type ControllerType = ControllerState["type"];
type ControllerEntry = Extract<RuntimeEntry, { readonly kind: "controller" }>;

/** An instance has one terminal. */
const CONSOLE_NAME = "stdio";

const ADDRESS: ParamSpec = {
  kind: "address",
  name: "address",
  field: "address",
  required: true,
  unix: true,
  anyPort: true,
  help: "Where it listens: HOST:PORT (port 0: any free one) or unix:PATH; without a secret on loopback only",
};

function secretFile(name: string, field: string, what: string): ParamSpec {
  return {
    kind: "text",
    name,
    field,
    placeholder: "FILE",
    help: `File that holds the ${what}; nobody else should be able to read it`,
    standard: `no ${what}`,
  };
}

const TEXTS: Readonly<
  Record<
    ControllerType,
    {
      readonly summary: string;
      readonly shorts: readonly string[];
      readonly secret?: ParamSpec;
      readonly add: readonly string[];
      readonly name: string;
    }
  >
> = {
  "resp-controller": {
    summary: "A controller for redis-cli and others that speak RESP",
    shorts: ["resp"],
    secret: secretFile("password-file", "passwordFile", "password"),
    add: [
      "add resp-controller r0 address 127.0.0.1:16310",
      "add resp-controller r0 address 0.0.0.0:16310 password-file /etc/portolan/resp-password",
    ],
    name: "r0",
  },
  "http-controller": {
    summary: "A controller for HTTP with JSON",
    shorts: ["http"],
    secret: secretFile("token-file", "tokenFile", "token"),
    add: [
      "add http-controller h0 address 127.0.0.1:18777",
      "add http-controller h0 address 0.0.0.0:18777 token-file /etc/portolan/http-token",
    ],
    name: "h0",
  },
  "stdio-controller": {
    summary: "The console on the terminal that the instance was started on",
    shorts: ["stdio"],
    add: [`add stdio-controller ${CONSOLE_NAME}`],
    name: CONSOLE_NAME,
  },
};

function actionSpecs(type: ControllerType): Partial<Record<Action, ActionSpec>> {
  const { secret, add, name } = TEXTS[type];
  const plain = (help: string, example: string): ActionSpec => ({
    help,
    params: [],
    examples: [example],
  });
  const adding: ActionSpec =
    secret === undefined
      ? {
          help: "Opens it, where the instance was started on a terminal; it is not there again after a restart",
          params: [],
          examples: add,
        }
      : { help: "Listens there, and after each start", params: [ADDRESS, secret], examples: add };
  return {
    add: adding,
    list: plain("Shows the names of those that listen, or should", `list ${type}`),
    "list-detail": plain(
      "Shows those that listen, with where and for how many, and why one that is kept does not",
      `list-detail ${type}`,
    ),
    remove: plain("Listens no more, and ends the connections", `remove ${type} ${name}`),
  };
}

function statesOf(world: ControlWorld, type: ControllerType): readonly ControllerState[] {
  const states = world.controllers.list().filter((state) => state.type === type);
  return states.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Names of the controllers of a type that listen, or should. */
export function controllerNames(world: ControlWorld, type: ControllerType): readonly string[] {
  return statesOf(world, type).map(({ name }) => name);
}

function records(world: ControlWorld, type: ControllerType): readonly ResultRecord[] {
  return statesOf(world, type).map(({ name, address, hasSecret, connections, problem }) => ({
    name,
    address,
    secret: hasSecret,
    connections,
    ...(problem !== undefined && { problem }),
  }));
}

/** The entry that a command says. */
function entryOf(type: ControllerEntry["type"], { command, params }: ActionCall): ControllerEntry {
  const address = params.address("address");
  if (address === undefined) throw new TypeError("an address is required");
  const secret = params.text("password-file") ?? params.text("token-file") ?? "";
  const { name } = command;
  return {
    kind: "controller",
    type,
    name,
    address: formatListenAddress(address),
    secretFile: secret,
  };
}

async function add(type: ControllerEntry["type"], call: ActionCall): Promise<Result> {
  const { world, options } = call;
  const problem = innerNameProblem(call.command.name);
  if (problem !== undefined) throw problemsError("ERR_USAGE", [problem]);
  const entry = entryOf(type, call);
  const present = keptEntry(world, type, entry.name);
  const isSame = options.isLoading && JSON.stringify(present) === JSON.stringify(entry);
  if (isSame) return DONE;
  // Names are of all types together: what is kept is forgotten by its name.
  const namesake = world.controllers.list().find(({ name }) => name === entry.name);
  if (namesake !== undefined) {
    throw taken(
      `${type} ${entry.name}`,
      namesake.problem === undefined
        ? `the ${namesake.type} that listens at ${namesake.address}`
        : `the ${namesake.type} that is kept and could not listen at ${namesake.address}`,
    );
  }
  await world.controllers.add(entry);
  try {
    await world.keep({ add: [entry], remove: [] });
  } catch (error) {
    await world.controllers.remove(type, entry.name);
    throw error;
  }
  return DONE;
}

/** It is not kept: the next start may have no terminal. */
function addConsole({ command: { name }, world }: ActionCall): Result {
  const [open] = statesOf(world, "stdio-controller");
  if (open !== undefined) {
    throw taken(`stdio-controller ${name}`, "the console that is open on the instance's terminal");
  }
  if (name !== CONSOLE_NAME) {
    throw new CoreError("ERR_USAGE", `name: "${name}" is not valid; expected ${CONSOLE_NAME}`);
  }
  if (world.controllers.openConsole()) return DONE;
  throw new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    `stdio-controller ${name}: the instance was not started on a terminal; "portolan console" opens a console on any terminal`,
  );
}

async function remove(type: ControllerType, { command, world }: ActionCall): Promise<Result> {
  const { name } = command;
  const states = statesOf(world, type);
  const state = states.find((one) => one.name === name);
  if (state === undefined) {
    throw notFound(
      type,
      name,
      states.map((one) => one.name),
    );
  }
  const entry = keptEntry(world, type, name);
  if (entry !== undefined && state.problem !== undefined) {
    // It does not listen, so it could not be put back where its end can not be kept.
    await world.keep({ add: [], remove: [{ kind: "controller", name }] });
    await world.controllers.remove(type, name);
    return DONE;
  }
  await world.controllers.remove(type, name);
  if (entry === undefined) {
    return { kind: "done", note: "it was told at the start, and will listen after the next one" };
  }
  try {
    await world.keep({ add: [], remove: [{ kind: "controller", name }] });
  } catch (error) {
    await world.controllers.add(entry);
    throw error;
  }
  return DONE;
}

function keptEntry(
  world: ControlWorld,
  type: ControllerType,
  name: string,
): ControllerEntry | undefined {
  for (const entry of world.kept()) {
    if (entry.kind === "controller" && entry.type === type && entry.name === name) return entry;
  }
  return undefined;
}

function controllerHandler(type: ControllerType): ResourceHandler {
  const adding: ActionHandler =
    type === "stdio-controller" ? addConsole : (call) => add(type, call);
  return {
    spec: {
      name: type,
      shorts: TEXTS[type].shorts,
      summary: TEXTS[type].summary,
      section: "none",
      isSystem: true,
      scopes: [{ within: [[]], actions: actionSpecs(type) }],
    },
    actions: {
      add: adding,
      list: ({ world }) => ({ kind: "names", names: controllerNames(world, type) }),
      "list-detail": ({ world }) => ({ kind: "records", records: records(world, type) }),
      remove: (call) => remove(type, call),
    },
  };
}

export const CONTROLLER_HANDLERS: readonly ResourceHandler[] = [
  controllerHandler("resp-controller"),
  controllerHandler("http-controller"),
  controllerHandler("stdio-controller"),
];
