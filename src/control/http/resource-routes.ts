import type { Action } from "../command.ts";
import type { ResourceName } from "../resource-names.ts";
import type { ParamSpec, ResourceSpec, ScopeSpec } from "../resource-spec.ts";

export const API_PREFIX = "/api/v1";

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** What a route does: `one` and `detail` read a single thing, `detail` with all that is in it. */
export type RouteUse = "list" | "one" | "detail" | "add" | "update" | "remove";

/** A path of the API that is a place of the table of commands. */
export interface ResourceRoute {
  readonly method: Method;
  /** As OpenAPI writes it: names in braces, each called as the type that it names. */
  readonly path: string;
  readonly use: RouteUse;
  readonly resource: ResourceSpec;
  /** Where it is, the nearest first. */
  readonly within: readonly ResourceName[];
  /** All that can be done there. */
  readonly actions: ScopeSpec["actions"];
}

interface Place {
  readonly resource: ResourceSpec;
  readonly within: readonly ResourceName[];
  readonly actions: ScopeSpec["actions"];
}

/** The API's words for resources that are called otherwise in commands. */
const PATH_WORDS: Readonly<Partial<Record<ResourceName, string>>> = {
  connection: "conn",
  "accepted-conn-count": "accepted-conn",
};

/** All routes that follow from the table of commands. */
export function planResourceRoutes(resources: readonly ResourceSpec[]): readonly ResourceRoute[] {
  return resources
    .filter(({ section }) => section !== "none")
    .flatMap(placesOf)
    .flatMap(routesOfPlace);
}

/** Where a resource can stand, each place once. */
function placesOf(resource: ResourceSpec): readonly Place[] {
  const places = new Map<string, Place>();
  for (const scope of resource.scopes) {
    for (const within of scope.within) {
      const key = within.join(" ");
      const actions = { ...places.get(key)?.actions, ...scope.actions };
      places.set(key, { resource, within, actions });
    }
  }
  return [...places.values()];
}

function routesOfPlace(place: Place): readonly ResourceRoute[] {
  const { resource, actions } = place;
  const all = placePath(place);
  const one = `${all}/{${resource.name}}`;
  const routes: ResourceRoute[] = [];
  const add = (method: Method, path: string, use: RouteUse): void => {
    routes.push({ ...place, method, path, use });
  };
  if ((actions["list-detail"] ?? actions.list) !== undefined) add("GET", all, "list");
  if (actions.add !== undefined) add("POST", all, "add");
  if (actions["list-detail"] !== undefined) {
    add("GET", one, "one");
    if (resource.section === "module") add("GET", `${one}/detail`, "detail");
  }
  if (actions.update !== undefined) add("PUT", one, "update");
  if (actions.remove !== undefined) add("DELETE", one, "remove");
  return routes;
}

/** `/api/v1/module/server-group/{server-group}/server` */
function placePath({ resource, within }: Place): string {
  const parents = within.toReversed().map((type) => `/${pathWord(type)}/{${type}}`);
  return `${API_PREFIX}/${resource.section}${parents.join("")}/${pathWord(resource.name)}`;
}

function pathWord(type: ResourceName): string {
  return PATH_WORDS[type] ?? type;
}

/** The action that a route is a translation of; lists are with everything, where that can be had. */
export function actionOf({ use, actions }: ResourceRoute): Action {
  switch (use) {
    case "list":
      return actions["list-detail"] === undefined ? "list" : "list-detail";
    case "one":
    case "detail":
      return "list-detail";
    case "add":
    case "update":
    case "remove":
      return use;
  }
}

export function paramsOf(route: ResourceRoute): readonly ParamSpec[] {
  return route.actions[actionOf(route)]?.params ?? [];
}
