import type { Listener } from "../../core/model/listener.ts";
import { type Kind, keyOf, type ModelObject } from "../../core/model/object.ts";
import { groupsOf } from "../../core/model/service.ts";
import type { ResourceName } from "../resource-names.ts";
import { nameOfKey } from "./names.ts";
import { inUse, notFound } from "./refusals.ts";
import type { StateView } from "./state-view.ts";

/** What an upstream without groups sends to: a name that nobody can type, so that none is meant by it. */
export const NO_GROUP = "default/(none)";

/** One object's word for another. */
export interface Reference {
  readonly type: ResourceName;
  /** Undefined for what is not in the store: groups of event loops. */
  readonly kind: Kind | undefined;
  readonly key: string;
}

/** What an object leads to. */
function referencesOf(object: ModelObject): readonly Reference[] {
  switch (object.kind) {
    case "Listener":
      return referencesOfListener(object);
    case "Service":
      return object.groups
        .filter(({ group }) => group !== NO_GROUP)
        .map(({ group }) => ({ type: "server-group", kind: "Group", key: group }));
    case "Group":
      return object.tls === undefined
        ? []
        : [{ type: "cert-key", kind: "Certificate", key: object.tls.certificate }];
    case "Endpoint":
      return object.needs.map((key) => ({ type: "service", kind: "Service", key }));
    default:
      return [];
  }
}

function referencesOfListener(listener: Listener): readonly Reference[] {
  const { service, securityGroup, tls, acceptLoops, workLoops } = listener;
  const references: Reference[] = [{ type: "upstream", kind: "Service", key: service }];
  if (securityGroup !== "") {
    references.push({ type: "security-group", kind: "SecurityGroup", key: securityGroup });
  }
  for (const key of tls?.certificates ?? []) {
    references.push({ type: "cert-key", kind: "Certificate", key });
  }
  for (const key of new Set([acceptLoops, workLoops])) {
    if (key !== "") references.push({ type: "event-loop-group", kind: undefined, key });
  }
  return references;
}

/** The references of `object` that lead nowhere. */
export function danglingOf(
  object: ModelObject,
  view: StateView,
  loopGroups: readonly string[] | undefined,
): readonly Reference[] {
  return referencesOf(object).filter(({ kind, key }) => {
    if (kind === undefined) return loopGroups !== undefined && !loopGroups.includes(key);
    const isImplicit = kind === "Group" && key === keyOf(object);
    return !isImplicit && view.get(kind, key) === undefined;
  });
}

/**
 * Refuses what leads nowhere, unless the object did so `before`.
 * @throws CoreError ERR_NOT_FOUND
 */
export function assertReferences(
  object: ModelObject,
  before: ModelObject | undefined,
  view: StateView,
  loopGroups: readonly string[] | undefined,
): void {
  const old = new Set(before === undefined ? [] : referencesOf(before).map(idOf));
  const missing = danglingOf(object, view, loopGroups).find((each) => !old.has(idOf(each)));
  if (missing === undefined) return;
  const { type, kind, key } = missing;
  const known = kind === undefined ? (loopGroups ?? []) : namesOfKind(view, kind);
  throw notFound(type, kind === undefined ? key : nameOfKey(key), known);
}

function idOf({ type, key }: Reference): string {
  return `${type} ${key}`;
}

function* namesOfKind(view: StateView, kind: Kind): Generator<string> {
  for (const object of view.objects(kind)) yield nameOfKey(keyOf(object));
}

/** @throws CoreError ERR_IN_USE where others lead to it */
export function assertUnused(object: ModelObject, view: StateView): void {
  const users = usersOf(view, object.kind, keyOf(object));
  if (users.length > 0) throw inUse(wordsFor(object), users);
}

/** Who leads to an object, as it is typed, in order. */
function usersOf(view: StateView, kind: Kind, key: string): readonly string[] {
  const users: string[] = [];
  for (const each of kindsThatReferTo(kind)) {
    for (const object of view.objects(each))
      if (leadsTo(object, kind, key)) users.push(wordsFor(object));
  }
  return users.sort();
}

/** Who uses a group of event loops. */
export function usersOfLoopGroup(view: StateView, name: string): readonly string[] {
  const users: string[] = [];
  for (const listener of view.objects("Listener")) {
    if (listener.acceptLoops === name || listener.workLoops === name)
      users.push(wordsFor(listener));
  }
  return users.sort();
}

function kindsThatReferTo(kind: Kind): readonly Kind[] {
  switch (kind) {
    case "Service":
      return ["Listener", "Endpoint"];
    case "Group":
      return ["Service"];
    case "SecurityGroup":
      return ["Listener"];
    case "Certificate":
      return ["Listener", "Group"];
    default:
      return [];
  }
}

/** A service leads to the group of its own key too, where it names none. */
function leadsTo(object: ModelObject, kind: Kind, key: string): boolean {
  if (object.kind === "Service") return groupsOf(object).some(({ group }) => group === key);
  return referencesOf(object).some((reference) => reference.kind === kind && reference.key === key);
}

const LISTENER_WORDS: Readonly<Record<Listener["mode"], ResourceName>> = {
  tcp: "tcp-lb",
  http: "tcp-lb",
  h2: "tcp-lb",
  udp: "udp-lb",
  socks5: "socks5-server",
  dns: "dns-server",
  // Commands have no words of their own for these; their addresses and time-outs are those of a tcp-lb.
  websocks: "tcp-lb",
  "websocks-agent": "tcp-lb",
};

/** The resource that a listener is. */
export function resourceOfListener(listener: Listener): ResourceName {
  return LISTENER_WORDS[listener.mode];
}

/** What an object is called in commands: `tcp-lb lb0`, `server s1 in server-group g0`. */
export function wordsFor(object: ModelObject): string {
  const name = nameOfKey(keyOf(object));
  switch (object.kind) {
    case "Listener":
      return `${resourceOfListener(object)} ${name}`;
    case "Service":
      return `${object.type === "Plain" ? "upstream" : "service"} ${name}`;
    case "Group":
      return `server-group ${name}`;
    case "Endpoint":
      return `server ${object.name} in server-group ${nameOfKey(`${object.namespace}/${object.group}`)}`;
    case "SecurityGroup":
      return `security-group ${name}`;
    case "Certificate":
      return `cert-key ${name}`;
    case "Node":
      return `node ${object.name}`;
  }
}
