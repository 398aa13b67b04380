import { expect, test } from "vitest";
import { formatProblem } from "../../core/model/problems.ts";
import type { ParamInput, ResourceCommand } from "../command.ts";
import type { ResourceSpec } from "../resource-spec.ts";
import { checkCommand, commandProblems } from "./check-command.ts";
import { FIXTURE_RESOURCES } from "./resources.fixture.ts";

/** A command that no line was read for, as HTTP makes them. */
function made(
  part: Partial<Omit<ResourceCommand, "params">>,
  params: Readonly<Record<string, ParamInput>> = {},
): ResourceCommand {
  const { action = "add", type = "server", name = "s1", within = [] } = part;
  return { kind: "resource", action, type, name, within, params: new Map(Object.entries(params)) };
}

const IN_GROUP = { within: [{ type: "server-group", name: "g0" }] } as const;

test("gives the record of an action in its place", () => {
  const own = checkCommand(made({ type: "server-group" }), FIXTURE_RESOURCES);
  expect(own.params.map(({ name }) => name)).toEqual(["hint-host", "annotations"]);
  const attached = checkCommand(
    made({ type: "server-group", within: [{ type: "service", name: "web" }] }),
    FIXTURE_RESOURCES,
  );
  expect(attached.params.map(({ name }) => name)).toEqual(["weight", "annotations"]);
});

test.each<[ResourceCommand, readonly string[]]>([
  [made(IN_GROUP, { address: "10.0.0.1:80", weight: 3 }), []],
  [
    made({ ...IN_GROUP, name: "" }, { address: 80, weight: 3.5, fast: true }),
    [
      "name: missing; expected the name of a server",
      "address: 80 is not valid; expected HOST:PORT, [IPV6]:PORT or unix:PATH",
      "weight: 3.5 is not valid; expected a whole number from 0 to 1000",
      "fast: unknown key; expected one of address, weight",
    ],
  ],
  [
    made({ ...IN_GROUP, action: "force-remove" }),
    [
      'action: "force-remove" is nothing that a server has; expected one of add, list, update, remove',
    ],
  ],
  [
    made({ type: "endpoint" }),
    [
      'resource: "endpoint" is not valid; expected one of tcp-lb, upstream, server-group, server, session, event-loop-group, event-loop, service, resp-controller',
    ],
  ],
])("finds all problems of a command that was made, %#", (command, problems) => {
  expect(commandProblems(command, FIXTURE_RESOURCES).map(formatProblem)).toEqual(problems);
  if (problems.length === 0) checkCommand(command, FIXTURE_RESOURCES);
  else {
    expect(() => checkCommand(command, FIXTURE_RESOURCES)).toThrow(
      expect.objectContaining({ code: "ERR_USAGE", message: problems.join("\n") }),
    );
  }
});

test("of a few places an error tells all, of many how they begin", () => {
  const nowhere = (type: ResourceCommand["type"], resources: readonly ResourceSpec[]) =>
    commandProblems(made({ type, action: "list", name: "" }), resources).map(formatProblem);
  expect(nowhere("session", FIXTURE_RESOURCES)).toEqual([
    'in: "list session" with no place; expected in event-loop NAME in event-loop-group NAME, or in tcp-lb NAME, or in server NAME in server-group NAME',
  ]);
  const types = ["tcp-lb", "udp-lb", "socks5-server", "dns-server"] as const;
  const crowded = FIXTURE_RESOURCES.map((resource): ResourceSpec => {
    const scopes = resource.scopes.map((scope) => ({
      ...scope,
      within: [...types.map((type) => ["connection", type] as const), ...scope.within],
    }));
    return resource.name === "session" ? { ...resource, scopes } : resource;
  });
  expect(nowhere("session", crowded)).toEqual([
    'in: "list session" with no place; expected in one of connection, event-loop, tcp-lb, server; "man session list" tells all',
  ]);
});
