import { invalid, type Problem, problemsError } from "../../core/model/problems.ts";
import { ACTIONS, type Action, type ResourceCommand } from "../command.ts";
import type { ResourceName } from "../resource-names.ts";
import type {
  ActionSpec,
  ParamSpec,
  RefusedParam,
  ResourceSpec,
  ScopeSpec,
} from "../resource-spec.ts";
import { withArticle } from "./param-value.ts";
import { paramProblems } from "./read-params.ts";
import { expectedResource, isListing, prepositionOf } from "./words.ts";

/**
 * Checks a command, whichever controller made it, against the table: its resource, its place, its
 * action there, its name and its parameters. Gives the record of the action.
 * @throws CoreError ERR_USAGE with all problems
 */
export function checkCommand(
  command: ResourceCommand,
  resources: readonly ResourceSpec[],
): ActionSpec {
  const action = findActionSpec(command, resources);
  const problems = commandProblems(command, resources);
  if (action === undefined || problems.length > 0) throw problemsError("ERR_USAGE", problems);
  return action;
}

/** All that is wrong with a command, as far as it can be known. */
export function commandProblems(
  command: ResourceCommand,
  resources: readonly ResourceSpec[],
): readonly Problem[] {
  const resource = resources.find(({ name }) => name === command.type);
  if (resource === undefined) {
    return [invalid(["resource"], command.type, expectedResource(command.type, resources))];
  }
  const problems: Problem[] = [];
  if (command.name === "" && !isListing(command.action)) {
    problems.push(invalid(["name"], undefined, `the name of ${withArticle(resource.name)}`));
  }
  const spec = findActionSpec(command, resources);
  if (spec === undefined) problems.push(placeProblem(command, resource));
  const known = spec ?? onlySpec(resource, command.action);
  if (known !== undefined) {
    const { params, refused } = known;
    problems.push(...paramProblems(command.params, params, command.action, refused));
  }
  return problems;
}

/** The record of an action in the place that a command names; undefined where there is none. */
export function findActionSpec(
  command: Pick<ResourceCommand, "type" | "action" | "within">,
  resources: readonly ResourceSpec[],
): ActionSpec | undefined {
  const resource = resources.find(({ name }) => name === command.type);
  const place = command.within.map(({ type }) => type);
  return resource?.scopes.find(
    (scope) => scope.actions[command.action] !== undefined && holdsPlace(scope, place),
  )?.actions[command.action];
}

/** Where an action can be done in one way only, its parameters are known without its place. */
function onlySpec(resource: ResourceSpec, action: Action): ActionSpec | undefined {
  const [only, ...more] = resource.scopes.flatMap((scope) => scope.actions[action] ?? []);
  return more.length === 0 ? only : undefined;
}

/** Every parameter that an action has in some place of its resource. */
export function paramsAnywhere(resource: ResourceSpec, action: Action): readonly ParamSpec[] {
  return resource.scopes.flatMap((scope) => scope.actions[action]?.params ?? []);
}

/** Every word that an action is known not to take in some place of its resource. */
export function refusedAnywhere(resource: ResourceSpec, action: Action): readonly RefusedParam[] {
  return resource.scopes.flatMap((scope) => scope.actions[action]?.refused ?? []);
}

/** The ways to say where a resource is when this is done to it. */
export function placesOf(
  resource: ResourceSpec,
  action: Action,
): readonly (readonly ResourceName[])[] {
  return resource.scopes.flatMap((scope) =>
    scope.actions[action] === undefined ? [] : scope.within,
  );
}

/** `to server-group NAME`; empty for a resource that stands by itself. */
export function placeText(place: readonly ResourceName[], action: Action): string {
  return place.map((type, index) => `${prepositionOf(action, index)} ${type} NAME`).join(" ");
}

function holdsPlace(scope: ScopeSpec, place: readonly ResourceName[]): boolean {
  return scope.within.some(
    (way) => way.length === place.length && way.every((type, index) => type === place[index]),
  );
}

/** An error that tells more ways than these is not read. */
const MAX_WAYS = 4;

/** Says where this can be done, or what can be done here. */
function placeProblem(command: ResourceCommand, resource: ResourceSpec): Problem {
  const { action } = command;
  const place = command.within.map(({ type }) => type);
  const ways = placesOf(resource, action);
  if (ways.length === 0) {
    const actions = ACTIONS.filter((other) => placesOf(resource, other).length > 0);
    return {
      path: ["action"],
      fault: "malformed",
      value: `"${action}" is nothing that ${withArticle(resource.name)} has`,
      expected: `one of ${actions.join(", ")}`,
    };
  }
  const here = ACTIONS.filter((other) =>
    resource.scopes.some((scope) => scope.actions[other] !== undefined && holdsPlace(scope, place)),
  );
  const shown = placeText(place, action) || "no place";
  const alternative = here.length === 0 ? "" : `; there it has ${here.join(", ")}`;
  return {
    path: ["in"],
    fault: "malformed",
    value: `"${action} ${resource.name}" with ${shown}`,
    expected: `${expectedPlace(ways, place, command)}${alternative}`,
  };
}

/** The ways that go on from what was said, or all of them; of many only how they begin. */
function expectedPlace(
  ways: readonly (readonly ResourceName[])[],
  said: readonly ResourceName[],
  { type, action }: ResourceCommand,
): string {
  const going = ways.filter((way) => said.every((part, index) => part === way[index]));
  const near = said.length > 0 && going.length > 0 ? going : ways;
  if (near.length <= MAX_WAYS) {
    return near.map((way) => placeText(way, action) || `${type} by itself`).join(", or ");
  }
  const nearest = new Set(near.flatMap(([first]) => first ?? []));
  return `${prepositionOf(action, 0)} one of ${[...nearest].join(", ")}; "man ${type} ${action}" tells all`;
}
