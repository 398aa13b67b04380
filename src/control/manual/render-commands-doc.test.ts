import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseCommand } from "../grammar/parse-command.ts";
import { RESOURCES } from "../resources/table.ts";
import { COMMANDS_INTRODUCTION } from "./commands-doc-text.ts";
import { renderCommandsDoc } from "./render-commands-doc.ts";

const FILE = new URL("../../../docs/commands.md", import.meta.url);

test("docs/commands.md says what the table of commands says", () => {
  const text = renderCommandsDoc(RESOURCES);
  if (process.env["PORTOLAN_REGENERATE"] === "1") writeFileSync(FILE, text);
  expect(readFileSync(FILE, "utf8")).toBe(text);
});

const ACTIONS_OF_TABLE = RESOURCES.flatMap(({ name, scopes }) =>
  scopes.flatMap(({ within, actions }) =>
    Object.entries(actions).map(([action, spec]) => ({ name, within, action, spec })),
  ),
);

test.each(
  ACTIONS_OF_TABLE.flatMap((entry) =>
    entry.spec.examples.map((example) => ({ ...entry, example })),
  ),
)("the example $example is what it is an example of", ({ name, within, action, example }) => {
  const command = parseCommand(example, RESOURCES);
  expect(command).toMatchObject({ kind: "resource", type: name, action });
  const place = command.kind === "resource" ? command.within.map(({ type }) => type) : [];
  expect(within).toContainEqual(place);
});

test("every action of the table has an example", () => {
  const without = ACTIONS_OF_TABLE.filter(({ spec }) => spec.examples.length === 0);
  expect(without.map(({ name, action }) => `${action} ${name}`)).toEqual([]);
});

test("the commands of the introduction are commands", () => {
  const lines = COMMANDS_INTRODUCTION.split("```")[1]?.trim().split("\n") ?? [];
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) expect(parseCommand(line, RESOURCES).kind).toBe("resource");
});
