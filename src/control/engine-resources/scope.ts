import { keyOf } from "../../core/model/object.ts";
import type { ResourceRef } from "../command.ts";
import type { EngineChannel, EnginePort, LoopGroupState } from "../engine-port.ts";
import type { ResourceName } from "../resource-names.ts";
import { keyOfName, nameOfKey } from "../resources/names.ts";
import { resourceOfListener, wordsFor } from "../resources/references.ts";
import { notFound } from "../resources/refusals.ts";
import { viewOf } from "../resources/state-view.ts";
import type { ControlWorld } from "../world.ts";
import { engineOf } from "./engine-of.ts";

/** What channels and totals are asked for of. */
export type Scope =
  | { readonly kind: "listener"; readonly key: string }
  | { readonly kind: "server"; readonly key: string }
  | { readonly kind: "loop"; readonly name: string };

/** Resources that are listeners. */
const LISTENERS = ["tcp-lb", "udp-lb", "socks5-server", "dns-server"] as const;

/** The places of what a listener has. */
export const LISTENER_PLACES: readonly (readonly ResourceName[])[] = LISTENERS.map((type) => [
  type,
]);

/** The places of what a loop has. */
export const LOOP_PLACES: readonly (readonly ResourceName[])[] = [
  ["event-loop"],
  ["event-loop", "event-loop-group"],
];

/** The place of what a server has. */
export const SERVER_PLACES: readonly (readonly ResourceName[])[] = [["server", "server-group"]];

/** @throws CoreError ERR_NOT_FOUND where what is named is not there, ERR_NOT_POSSIBLE_HERE */
export function scopeOf(within: readonly ResourceRef[], world: ControlWorld): Scope {
  const [nearest, outer] = within;
  if (nearest === undefined) throw new TypeError("no place is named");
  switch (nearest.type) {
    case "event-loop":
      return { kind: "loop", name: findLoop(nearest.name, outer?.name, engineOf(world)) };
    case "server":
      return { kind: "server", key: findServer(nearest.name, outer?.name ?? "", world) };
    default:
      return { kind: "listener", key: findListener(nearest, world) };
  }
}

export function isWithin(channel: EngineChannel, scope: Scope): boolean {
  switch (scope.kind) {
    case "listener":
      return channel.listener === scope.key;
    case "server":
      return channel.server === scope.key;
    case "loop":
      return channel.loop === scope.name;
  }
}

/** @throws CoreError ERR_NOT_FOUND */
export function findLoopGroup(name: string, engine: EnginePort): LoopGroupState {
  const groups = engine.loopGroups();
  const group = groups.find((one) => one.name === name);
  if (group !== undefined) return group;
  throw notFound(
    "event-loop-group",
    name,
    groups.map((one) => one.name),
  );
}

/** @throws CoreError ERR_NOT_FOUND */
export function findLoop(name: string, group: string | undefined, engine: EnginePort): string {
  const groups = group === undefined ? engine.loopGroups() : [findLoopGroup(group, engine)];
  const loops = groups.flatMap((one) => one.loops);
  if (loops.includes(name)) return name;
  const place = group === undefined ? "" : ` in event-loop-group ${group}`;
  throw notFound(`event-loop${place}`, name, loops);
}

function findServer(name: string, group: string, { store }: ControlWorld): string {
  const view = viewOf(store);
  const groupKey = keyOfName(group);
  const endpoints = view.endpointsOf(groupKey);
  const found = endpoints.find((endpoint) => endpoint.name === name);
  if (found !== undefined) return keyOf(found);
  if (view.get("Group", groupKey) === undefined && endpoints.length === 0) {
    const known = [...view.objects("Group")].map((one) => nameOfKey(keyOf(one)));
    throw notFound("server-group", group, known);
  }
  throw notFound(
    `server in server-group ${group}`,
    name,
    endpoints.map((endpoint) => endpoint.name),
  );
}

function findListener({ type, name }: ResourceRef, { store }: ControlWorld): string {
  const view = viewOf(store);
  const key = keyOfName(name);
  const listener = view.get("Listener", key);
  if (listener !== undefined && resourceOfListener(listener) === type) return key;
  const known = [...view.objects("Listener")].filter((one) => resourceOfListener(one) === type);
  const names = known.map((one) => nameOfKey(keyOf(one)));
  throw notFound(type, name, names, listener && wordsFor(listener));
}
