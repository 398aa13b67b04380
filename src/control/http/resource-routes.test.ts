import { expect, test } from "vitest";
import type { ResourceSpec, ScopeSpec } from "../resource-spec.ts";
import { planResourceRoutes } from "./resource-routes.ts";

const ACTION = { help: "does it", params: [], examples: [] };
const LISTING = { list: ACTION, "list-detail": ACTION };

function resource(
  name: ResourceSpec["name"],
  section: ResourceSpec["section"],
  ...scopes: readonly ScopeSpec[]
): ResourceSpec {
  return { name, section, scopes, shorts: [], summary: name, isSystem: false };
}

function routes(spec: ResourceSpec): readonly string[] {
  return planResourceRoutes([spec]).map(({ method, path, use }) => `${method} ${path} ${use}`);
}

test("a module has all that its actions allow", () => {
  const actions = { ...LISTING, add: ACTION, update: ACTION, remove: ACTION };
  expect(routes(resource("tcp-lb", "module", { within: [[]], actions }))).toEqual([
    "GET /api/v1/module/tcp-lb list",
    "POST /api/v1/module/tcp-lb add",
    "GET /api/v1/module/tcp-lb/{tcp-lb} one",
    "GET /api/v1/module/tcp-lb/{tcp-lb}/detail detail",
    "PUT /api/v1/module/tcp-lb/{tcp-lb} update",
    "DELETE /api/v1/module/tcp-lb/{tcp-lb} remove",
  ]);
});

test("places are paths, the farthest first", () => {
  const scope = {
    within: [["event-loop", "event-loop-group"], ["tcp-lb"]],
    actions: { remove: ACTION },
  } as const;
  expect(routes(resource("connection", "channel", scope))).toEqual([
    "DELETE /api/v1/channel/event-loop-group/{event-loop-group}/event-loop/{event-loop}/conn/{connection} remove",
    "DELETE /api/v1/channel/tcp-lb/{tcp-lb}/conn/{connection} remove",
  ]);
});

test("what can be done in one place may stand in several scopes", () => {
  const spec = resource(
    "server-group",
    "module",
    { within: [["upstream"]], actions: { list: ACTION } },
    { within: [["upstream"]], actions: { "list-detail": ACTION, add: ACTION } },
  );
  expect(routes(spec).filter((route) => route.endsWith("list"))).toHaveLength(1);
  expect(planResourceRoutes([spec]).map(({ actions }) => Object.keys(actions))[0]).toEqual([
    "list",
    "list-detail",
    "add",
  ]);
});

test("counters are only read", () => {
  const spec = resource("accepted-conn-count", "statistics", {
    within: [["tcp-lb"]],
    actions: { list: ACTION },
  });
  expect(routes(spec)).toEqual(["GET /api/v1/statistics/tcp-lb/{tcp-lb}/accepted-conn list"]);
});

test("what is not for the API is not in it", () => {
  expect(routes(resource("stdio-controller", "none", { within: [[]], actions: LISTING }))).toEqual(
    [],
  );
});
