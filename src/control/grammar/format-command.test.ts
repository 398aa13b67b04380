import fc from "fast-check";
import { expect, test } from "vitest";
import type { Command, ResourceCommand } from "../command.ts";
import { checkCommand } from "./check-command.ts";
import { typedCommands } from "./command.fixture.ts";
import { formatCommand } from "./format-command.ts";
import { parseCommand } from "./parse-command.ts";
import { readParams } from "./read-params.ts";
import { FIXTURE_RESOURCES } from "./resources.fixture.ts";

test.each([
  "add tcp-lb lb0 address 0.0.0.0:80 upstream u0 falls-back",
  'add server-group g0 to upstream u0 weight 10 annotations {"a":"b c"}',
  "remove server s1 from server-group g0",
  'remove session "it\'s" from event-loop el0 in event-loop-group elg0',
  'add upstream "to"',
  'add server-group g0 hint-host "in"',
  'add server-group "{g}" hint-host "a b"',
  String.raw`remove session /10\.0\.0\.1:\d+/ from tcp-lb lb0`,
  "list session in tcp-lb lb0",
  "list config",
  'save "a b"',
  "man",
  "man tcp-lb",
  "man tcp-lb add",
])("writes %s as it would be typed", (line) => {
  expect(formatCommand(parsed(line))).toBe(line);
});

test("what was written is read as the same command", () => {
  fc.assert(
    fc.property(typedCommands(FIXTURE_RESOURCES), (command) => {
      expect(parsed(formatCommand(command))).toEqual(command);
    }),
    { numRuns: 1000 },
  );
});

test("numbers and lists of JSON are read from their text as the same values", () => {
  const command: ResourceCommand = {
    kind: "resource",
    action: "update",
    type: "tcp-lb",
    name: "lb0",
    within: [],
    params: new Map<string, number | boolean | readonly string[]>([
      ["timeout", 5000],
      ["cert-key", ["c0", "c1"]],
      ["falls-back", false],
    ]),
  };
  const text = formatCommand(command);
  expect(text).toBe("update tcp-lb lb0 timeout 5000 cert-key c0,c1 falls-back false");
  for (const same of [command, parsed(text)]) {
    if (same.kind !== "resource") throw new TypeError("a resource command was written");
    const { params } = checkCommand(same, FIXTURE_RESOURCES);
    const reader = readParams(same.params, params, same.action);
    expect(reader.integer("timeout")).toBe(5000);
    expect(reader.list("cert-key")).toEqual(["c0", "c1"]);
    expect(reader.flag("falls-back")).toBe(false);
  }
});

function parsed(line: string): Command {
  return parseCommand(line, FIXTURE_RESOURCES);
}
