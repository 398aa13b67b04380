import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { JsonSchema } from "../../core/model/json-schema.ts";
import { objectJsonSchema } from "../../core/model/object-schemas.ts";
import { parseState } from "./parse-state.ts";
import { shortFormJsonSchema } from "./short-form/short-form-schema.ts";

const root = new URL("../../../", import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, root), "utf8");
const load = (name: string, text: string) =>
  parseState([{ name, bytes: new TextEncoder().encode(text) }]);

const STATE_FILES = readdirSync(new URL("examples/", root)).filter((name) =>
  /\.(yaml|json)$/.test(name),
);

test.each(STATE_FILES)("examples/%s is a good state file", (name) => {
  const { objects, skipped } = load(name, textOf(`examples/${name}`));
  expect(objects.length).toBeGreaterThan(0);
  expect(skipped).toEqual([]);
});

test("every example in docs/state-files.md is a good state file", () => {
  const blocks = [...textOf("docs/state-files.md").matchAll(/^```yaml\n(.*?)^```$/gms)];
  expect(blocks.length).toBeGreaterThanOrEqual(6);
  for (const [, text = ""] of blocks) expect(load("docs", text).objects.length).toBeGreaterThan(0);
});

test("docs/state-files.md names every key of the short form", () => {
  const text = textOf("docs/state-files.md");
  const keys = propertiesIn(shortFormJsonSchema());
  expect(keys).toContain("clientCaFile");
  expect(keys.filter((key) => !new RegExp(`\\b${key}\\b`).test(text))).toEqual([]);
});

/** PORTOLAN_REGENERATE=1 writes the files instead of comparing them. */
test.each([
  ["schema/state-file.json", shortFormJsonSchema()],
  ["schema/object.json", objectJsonSchema()],
])("%s is what the code checks with", (path, schema) => {
  const expected = `${JSON.stringify(schema, null, 2)}\n`;
  if (process.env["PORTOLAN_REGENERATE"] === "1") writeFileSync(new URL(path, root), expected);
  expect(textOf(path)).toBe(expected);
});

function propertiesIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties }: JsonSchema = { ...schema };
  const own = Object.keys(properties ?? {});
  return [...own, ...Object.values(schema).flatMap(propertiesIn)];
}
