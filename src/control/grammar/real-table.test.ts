import fc from "fast-check";
import { expect, test } from "vitest";
import { ACTIONS } from "../command.ts";
import { RESOURCE_NAMES } from "../resource-names.ts";
import type { ParamSpec } from "../resource-spec.ts";
import { RESOURCES } from "../resources/table.ts";
import { typedCommands } from "./command.fixture.ts";
import { complete } from "./complete.ts";
import { formatCommand } from "./format-command.ts";
import { readValue } from "./param-value.ts";
import { parseCommand } from "./parse-command.ts";
import { ACTION_SHORTS, PREPOSITIONS } from "./words.ts";

const ALL_PARAMS = RESOURCES.flatMap(({ name, scopes }) =>
  scopes.flatMap(({ actions }) =>
    ACTIONS.flatMap((action) => {
      const params = actions[action]?.params;
      return params === undefined ? [] : [{ command: `${action} ${name}`, params }];
    }),
  ),
);

test("the table has every resource once, and each word means one", () => {
  expect(RESOURCES.map(({ name }) => name).toSorted()).toEqual([...RESOURCE_NAMES].toSorted());
  const words = RESOURCES.flatMap(({ name, shorts }) => [name, ...shorts]);
  expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
  const actions = ACTIONS.flatMap((action) => [action, ...ACTION_SHORTS[action]]);
  expect(new Set(actions).size).toBe(actions.length);
});

test("every place is one of resources of the table", () => {
  const names = new Set(RESOURCES.map(({ name }) => name));
  const types = RESOURCES.flatMap(({ scopes }) => scopes.flatMap(({ within }) => within.flat()));
  expect(types.filter((type) => !names.has(type))).toEqual([]);
});

test.each(ALL_PARAMS)("$command: each parameter has its own word and field", ({ params }) => {
  const names = params.map(({ name }) => name);
  const fields = params.map(({ field }) => field);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(fields).size).toBe(fields.length);
  for (const name of names) {
    expect(name).toMatch(/^[a-z][a-z0-9-]*$/);
    expect([...PREPOSITIONS, "true", "false"]).not.toContain(name);
  }
  for (const field of fields) expect(field).toMatch(/^[a-z][A-Za-z0-9]*$/);
});

test("other words for values lead to values, and hide none", () => {
  for (const { params } of ALL_PARAMS) params.forEach(checkAliases);
});

function checkAliases(spec: ParamSpec): void {
  if (spec.kind !== "enum") return;
  for (const value of spec.values) expect(readValue(spec, value)).toBe(value);
  for (const [alias, value] of Object.entries(spec.aliases ?? {})) {
    expect(spec.values).toContain(value);
    expect(readValue(spec, alias)).toBe(value);
  }
}

test("every command of the table that was written is read as the same command", () => {
  fc.assert(
    fc.property(typedCommands(RESOURCES), (command) => {
      expect(parseCommand(formatCommand(command), RESOURCES)).toEqual(command);
    }),
    { numRuns: 500 },
  );
});

test("the words of a command are offered where they stand", () => {
  fc.assert(
    fc.property(typedCommands(RESOURCES), ({ action, type, within, params }) => {
      const name = action.startsWith("list") ? "" : "x ";
      let line = `${action} ${type} ${name}`;
      expect(offered(`${action} `)).toContain(type);
      for (const place of within) {
        const [word] = offered(line);
        expect(PREPOSITIONS).toContain(word);
        expect(offered(`${line}${word} `)).toContain(place.type);
        line += `${word} ${place.type} y `;
      }
      for (const param of params.keys()) expect(offered(line)).toContain(param);
    }),
    { numRuns: 300 },
  );
});

function offered(line: string): readonly string[] {
  return complete(line, RESOURCES, () => []);
}
