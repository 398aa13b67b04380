import { formatHostPort } from "../../core/model/address.ts";
import { type Problem, problemsError } from "../../core/model/problems.ts";
import { endKept, keepOr } from "../engine-resources/kept-entries.ts";
import type { ActionCall, ResourceHandler } from "../resource-handler.ts";
import type { ActionSpec } from "../resource-spec.ts";
import { DONE, type Result, type ResultRecord } from "../result.ts";
import type { ControlWorld, DelegateEntry, DelegateState } from "../world.ts";
import {
  GROUP_DELEGATE_PARAMS,
  NODE_DELEGATE_PARAMS,
  readGroupDelegate,
  readNodeDelegate,
} from "./delegate-params.ts";
import { innerNameProblem, nameOfKey } from "./names.ts";
import { find } from "./object-resource.ts";
import { notFound, taken } from "./refusals.ts";
import { SERVER_GROUPS } from "./server-group.ts";
import { viewOf } from "./state-view.ts";

type DelegateKind = DelegateEntry["kind"];

/** More than one machine has ports worth announcing. */
const MAX_DELEGATES = 1000;

interface DelegateTexts {
  readonly shorts: readonly string[];
  readonly summary: string;
  readonly add: ActionSpec;
  readonly remove: string;
  readonly name: string;
}

const TEXTS: Readonly<Record<DelegateKind, DelegateTexts>> = {
  "smart-group-delegate": {
    shorts: ["sgd"],
    summary: "Keeps a server group equal to the healthy instances of a service in a zone",
    add: {
      help: "Follows the service, now and after each start; what commands put into the group stays beside it",
      params: GROUP_DELEGATE_PARAMS,
      examples: [
        "add smart-group-delegate sgd0 service shop zone z0 server-group g0",
        "add smart-group-delegate sgd1 service prod/shop server-group g1 service-port http",
      ],
    },
    remove: "Follows no more; the servers that it put into the group go",
    name: "sgd0",
  },
  "smart-node-delegate": {
    shorts: ["snd"],
    summary:
      "Checks a port of this machine, and announces it as an instance of a service while it answers",
    add: {
      help: "Checks it, now and after each start; the first success announces, the first failure withdraws",
      params: NODE_DELEGATE_PARAMS,
      examples: [
        "add smart-node-delegate snd0 service shop zone z0 nic eth0 port 8080 weight 10",
        "add smart-node-delegate snd1 service shop address 10.0.0.5 port 18080 check-address 127.0.0.1:8080 period 1000",
      ],
    },
    remove: "Checks no more; what it announced is withdrawn",
    name: "snd0",
  },
};

function plain(help: string, example: string): ActionSpec {
  return { help, params: [], examples: [example] };
}

function statesOf(world: ControlWorld, kind: DelegateKind): readonly DelegateState[] {
  const states = world.delegates.list().filter(({ entry }) => entry.kind === kind);
  return states.sort((a, b) => (a.entry.name < b.entry.name ? -1 : 1));
}

/** Names of the delegates of a kind. */
export function delegateNames(world: ControlWorld, kind: DelegateKind): readonly string[] {
  return statesOf(world, kind).map(({ entry }) => entry.name);
}

function recordOf({ entry, status, servers, to, problem }: DelegateState): ResultRecord {
  const { name, service, zone, servicePort } = entry;
  const common = {
    name,
    service: nameOfKey(service),
    zone,
    ...(servicePort !== "" && { "service-port": servicePort }),
  };
  const how = { status, ...(problem !== "" && { problem }) };
  if (entry.kind === "smart-group-delegate") {
    return { ...common, "server-group": nameOfKey(entry.serverGroup), servers, ...how };
  }
  const { address, nic, port, weight, checkAddress, timeoutMs, periodMs, up, down } = entry;
  return {
    ...common,
    ...(nic === "" ? { address } : { nic, "ip-type": entry.family }),
    port,
    weight,
    "check-address": checkAddress === "" ? formatHostPort(address || nic, port) : checkAddress,
    timeout: timeoutMs,
    period: periodMs,
    up,
    down,
    to,
    announced: servers,
    ...how,
  };
}

function entryOf(kind: DelegateKind, { command, params }: ActionCall): DelegateEntry {
  const { name } = command;
  const problem = innerNameProblem(name);
  const problems: Problem[] = problem === undefined ? [] : [problem];
  const read = kind === "smart-group-delegate" ? readGroupDelegate : readNodeDelegate;
  const entry = read(name, params, problems);
  if (problems.length > 0) throw problemsError("ERR_USAGE", problems);
  return entry;
}

async function add(kind: DelegateKind, call: ActionCall): Promise<Result> {
  const { world, options } = call;
  const entry = entryOf(kind, call);
  const states = statesOf(world, kind);
  const present = states.find((state) => state.entry.name === entry.name);
  if (present !== undefined) {
    const isSame = JSON.stringify(present.entry) === JSON.stringify(entry);
    if (options.isLoading && isSame) return DONE;
    throw taken(`${kind} ${entry.name}`, "one that is there already");
  }
  if (states.length >= MAX_DELEGATES) {
    throw problemsError("ERR_USAGE", [
      {
        path: ["name"],
        fault: "malformed",
        value: `would be number ${MAX_DELEGATES + 1} of its kind`,
        expected: `at most ${MAX_DELEGATES}`,
      },
    ]);
  }
  if (entry.kind === "smart-group-delegate") {
    assertFree(entry.serverGroup, states);
    assertApart(entry.service, entry.serverGroup);
  } else assertNotAnnounced(entry, states);
  // A group that is loaded with it comes into force after it.
  if (entry.kind === "smart-group-delegate" && !options.isLoading) {
    find(SERVER_GROUPS, nameOfKey(entry.serverGroup), viewOf(world.store));
  }
  await world.delegates.add(entry);
  await keepOr(world, entry, () => world.delegates.remove(kind, entry.name));
  return DONE;
}

/** Two would each take away what the other puts there. */
function assertFree(group: string, states: readonly DelegateState[]): void {
  const holder = states.find(
    ({ entry }) => entry.kind === "smart-group-delegate" && entry.serverGroup === group,
  );
  if (holder === undefined) return;
  throw taken(
    `server-group ${nameOfKey(group)}`,
    `smart-group-delegate ${holder.entry.name}, which keeps it`,
  );
}

/** The instances of a service are in the group of its name, whichever zone they are in. */
function assertApart(service: string, group: string): void {
  if (service !== group) return;
  throw problemsError("ERR_USAGE", [
    {
      path: ["server-group"],
      fault: "malformed",
      value: nameOfKey(group),
      expected: "another group than that of the service's name, where all its instances are",
    },
  ]);
}

type NodeEntry = Extract<DelegateEntry, { kind: "smart-node-delegate" }>;

/** Who others call is announced by one: the end of a second would withdraw it. */
function assertNotAnnounced(entry: NodeEntry, states: readonly DelegateState[]): void {
  const placeOf = ({ service, address, nic, family, port }: NodeEntry): string =>
    JSON.stringify([service, address, nic, nic && family, port]);
  const holder = states.find(
    (state) =>
      state.entry.kind === "smart-node-delegate" && placeOf(state.entry) === placeOf(entry),
  );
  if (holder === undefined) return;
  throw taken(
    `${formatHostPort(entry.address || entry.nic, entry.port)} of service ${nameOfKey(entry.service)}`,
    `smart-node-delegate ${holder.entry.name}, which announces it`,
  );
}

async function remove(kind: DelegateKind, { command, world }: ActionCall): Promise<Result> {
  const { name } = command;
  const names = delegateNames(world, kind);
  if (!names.includes(name)) throw notFound(kind, name, names);
  await endKept(
    world,
    (entry) => entry.kind === kind && entry.name === name,
    () => world.delegates.remove(kind, name),
  );
  return DONE;
}

function delegateHandler(kind: DelegateKind): ResourceHandler {
  const { shorts, summary, add: adding, remove: removing, name } = TEXTS[kind];
  return {
    spec: {
      name: kind,
      shorts,
      summary,
      section: "module",
      isSystem: false,
      scopes: [
        {
          within: [[]],
          actions: {
            add: adding,
            list: plain("Shows their names", `list ${kind}`),
            "list-detail": plain("Shows them with how they do", `list-detail ${kind}`),
            remove: plain(removing, `remove ${kind} ${name}`),
          },
        },
      ],
    },
    actions: {
      add: (call) => add(kind, call),
      list: ({ world }) => ({ kind: "names", names: delegateNames(world, kind) }),
      "list-detail": ({ world }) => ({
        kind: "records",
        records: statesOf(world, kind).map(recordOf),
      }),
      remove: (call) => remove(kind, call),
    },
  };
}

export const DELEGATE_HANDLERS: readonly ResourceHandler[] = [
  delegateHandler("smart-group-delegate"),
  delegateHandler("smart-node-delegate"),
];
