import { expect, test } from "vitest";
import { loadAllBackends } from "../backends/registry.ts";
import { fileOptionNames } from "./config.ts";
import { configJsonSchema } from "./config-schema.ts";
import { OPTION_GROUPS } from "./options.ts";
import { expectPublished } from "./published.fixture.ts";

test("schema/config.json is what the options say", async () => {
  const groups = OPTION_GROUPS.map(({ specs }) => specs);
  const schema = configJsonSchema(groups, await loadAllBackends());
  const text = `${JSON.stringify(schema, undefined, 2)}\n`;
  expectPublished("schema/config.json", text);
});

test("it has just the keys that the parser takes", async () => {
  const groups = OPTION_GROUPS.map(({ specs }) => specs);
  const schema = configJsonSchema(groups, await loadAllBackends());
  expect(schema).toMatchObject({ properties: { options: { properties: {} } } });
  const keys = [...JSON.stringify(schema).matchAll(/"([a-z0-9-]+)":\{"description"/g)].map(
    ([, key]) => key,
  );
  for (const name of await fileOptionNames()) expect(keys).toContain(name);
});
