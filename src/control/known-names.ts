import type { ResourceName } from "./resource-names.ts";
import { controllerNames } from "./resources/controllers.ts";
import { delegateNames } from "./resources/delegates.ts";
import { nameOfKey } from "./resources/names.ts";
import { viewOf } from "./resources/state-view.ts";
import { desiredOf } from "./resources/table.ts";
import type { ControlWorld } from "./world.ts";

/** More would not help who is typing. */
const MAX_NAMES = 1000;

/** The names of what there is of a resource, for completion; of what is in others, all of them. */
export function knownNames(world: ControlWorld, type: ResourceName): readonly string[] {
  return [...new Set(allNames(world, type))].slice(0, MAX_NAMES);
}

function allNames(world: ControlWorld, type: ResourceName): Iterable<string> {
  const view = viewOf(world.store);
  switch (type) {
    case "server":
      return endpointNames(world, (key) => view.get("Group", key) !== undefined);
    case "endpoint":
      return endpointNames(world, (key) => view.get("Service", key) !== undefined);
    case "security-group-rule":
      return [...view.objects("SecurityGroup")].flatMap(({ rules }) =>
        rules.map(({ name }) => name),
      );
    case "event-loop-group":
      return world.engine?.loopGroups().map(({ name }) => name) ?? [];
    case "event-loop":
      return world.engine?.loopGroups().flatMap(({ loops }) => loops) ?? [];
    case "resp-controller":
    case "http-controller":
    case "stdio-controller":
      return controllerNames(world, type);
    case "smart-group-delegate":
    case "smart-node-delegate":
      return delegateNames(world, type);
    default:
      return desiredOf(type)?.names({ within: [], view, engine: world.engine }) ?? [];
  }
}

function* endpointNames(
  world: ControlWorld,
  isHolder: (key: string) => boolean,
): Generator<string> {
  for (const [key, { endpoints }] of world.store.state().groups) {
    if (isHolder(key)) yield* endpoints.map(({ name }) => name);
  }
}

/** What a server is called: the name of its group and its own. */
export function namesOfServer(key: string): {
  readonly serverGroup: string;
  readonly server: string;
} {
  const slash = key.lastIndexOf("/");
  return { serverGroup: nameOfKey(key.slice(0, slash)), server: key.slice(slash + 1) };
}
