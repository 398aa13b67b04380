import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { RESOURCES } from "../../resources/table.ts";
import { TinyControl } from "../../tiny-control.fixture.ts";
import { isObject } from "../body-params.ts";
import { planEndpoints } from "../endpoints.ts";
import { createHealthWatch } from "../health-watch.ts";
import { HTTP_LIMITS } from "../limits.ts";
import { openApiDocument } from "./openapi-document.ts";

const PUBLISHED = new URL("../../../../schema/openapi.json", import.meta.url);
const WHOLE = { status: true, keepFile: true };
const DOCUMENT = openApiDocument(RESOURCES, WHOLE);

test("schema/openapi.json is what the table says", () => {
  const text = `${JSON.stringify(DOCUMENT, undefined, 2)}\n`;
  if (process.env["PORTOLAN_REGENERATE"] === "1") writeFileSync(PUBLISHED, text);
  expect(readFileSync(PUBLISHED, "utf8")).toBe(text);
});

test("every reference leads somewhere", () => {
  const references = [...JSON.stringify(DOCUMENT).matchAll(/"\$ref":"#\/([^"]+)"/g)];
  expect(references.length).toBeGreaterThan(100);
  for (const [, path = ""] of references) {
    expect(valueAt(DOCUMENT, path.split("/")), path).toBeDefined();
  }
});

test("it has just the paths and methods that are answered", () => {
  const control = Object.assign(new TinyControl(), { resources: RESOURCES });
  const watch = createHealthWatch(control, HTTP_LIMITS);
  const keepFile = async (path: string) => ({ path, release: async () => undefined });
  const whole = planEndpoints({ control, watch, keepFile, status: () => ({}) });
  expect(documented(DOCUMENT)).toEqual(whole.map(({ method, path }) => `${method} ${path}`).sort());
  const least = planEndpoints({ control, watch });
  const leastDocument = openApiDocument(RESOURCES, { status: false, keepFile: false });
  expect(documented(leastDocument)).toEqual(
    least.map(({ method, path }) => `${method} ${path}`).sort(),
  );
});

test("every name in a path is a parameter, and every operation has its own id", () => {
  const ids = new Set<unknown>();
  for (const [path, , operation] of operationsOf(DOCUMENT)) {
    const parameters = Array.isArray(operation["parameters"]) ? operation["parameters"] : [];
    const names = parameters
      .map((one) =>
        isObject(one) ? valueAt(DOCUMENT, String(one["$ref"]).slice(2).split("/")) : one,
      )
      .flatMap((one) => (isObject(one) && one["in"] === "path" ? one["name"] : []));
    expect(names, path).toEqual([...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name));
    expect(ids, String(operation["operationId"])).not.toContain(operation["operationId"]);
    ids.add(operation["operationId"]);
    expect(operation["summary"], path).not.toBe("");
  }
});

test("what reads one thing does not say that it shows all", () => {
  const ofOne = operationsOf(DOCUMENT).filter(
    ([path, method]) => method === "get" && /\}(?:\/detail)?$/.test(path),
  );
  expect(ofOne.length).toBeGreaterThan(20);
  for (const [path, , { summary }] of ofOne) expect(summary, path).toMatch(/^Shows one /);
});

test("names of components are such as OpenAPI allows", () => {
  const schemas = valueAt(DOCUMENT, ["components", "schemas"]);
  for (const name of Object.keys(isObject(schemas) ? schemas : {})) {
    expect(name).toMatch(/^[a-zA-Z0-9._-]+$/);
  }
});

function documented(document: object): readonly string[] {
  return operationsOf(document)
    .map(([path, method]) => `${method.toUpperCase()} ${path}`)
    .sort();
}

function operationsOf(
  document: object,
): readonly (readonly [string, string, Readonly<Record<string, unknown>>])[] {
  const paths = valueAt(document, ["paths"]);
  return Object.entries(isObject(paths) ? paths : {}).flatMap(([path, methods]) =>
    Object.entries(isObject(methods) ? methods : {}).map(
      ([method, operation]) => [path, method, isObject(operation) ? operation : {}] as const,
    ),
  );
}

function valueAt(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return value;
  return isObject(value) ? valueAt(value[first], rest) : undefined;
}
