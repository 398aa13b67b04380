import * as z from "zod";
import type { PathPart } from "./problems.ts";

/** A JSON Schema (draft 2020-12), as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The JSON Schema of what `schema` takes; `$id` and a title make it one to publish. */
export function inputSchemaOf(schema: z.ZodType, head: JsonSchema = {}): JsonSchema {
  const json = z.toJSONSchema(schema, {
    target: "draft-2020-12",
    io: "input",
    unrepresentable: "any",
  });
  const { $schema, ...rest } = json;
  return { $schema, ...head, ...rest };
}

/** The keys that the object at `path` may have, as far as the schema tells them. */
export function knownKeysAt(json: unknown, path: readonly PathPart[]): readonly string[] {
  const keys = schemasAt(json, path).flatMap((schema) =>
    Object.keys(recordAt(schema, "properties")),
  );
  return [...new Set(keys)];
}

/** What may stand at `path`, in the words of the schema's descriptions; empty where it has none. */
export function descriptionAt(json: unknown, path: readonly PathPart[]): string {
  const texts = schemasAt(json, path).map((schema) => recordOf(schema)["description"]);
  return [...new Set(texts.filter((text) => typeof text === "string"))].join(" or ");
}

/** All schemas that may be meant for what stands at `path`. */
function schemasAt(json: unknown, path: readonly PathPart[]): readonly unknown[] {
  let places: readonly unknown[] = [json];
  for (const part of path) places = places.flatMap((place) => childrenOf(json, place, part));
  return places.flatMap((place) => alternativesOf(json, place));
}

function childrenOf(root: unknown, place: unknown, part: PathPart): readonly unknown[] {
  return alternativesOf(root, place).flatMap((schema) => {
    if (typeof part === "number") return [recordOf(schema)["items"]];
    const own = recordAt(schema, "properties")[part];
    return [own ?? recordOf(schema)["additionalProperties"]];
  });
}

/** The schema itself, and those that it allows instead of itself. */
function alternativesOf(root: unknown, place: unknown): readonly unknown[] {
  const { $ref, anyOf, oneOf } = recordOf(place);
  if (typeof $ref === "string") {
    return alternativesOf(root, recordAt(root, "$defs")[$ref.replace("#/$defs/", "")]);
  }
  const others = [anyOf, oneOf].filter(Array.isArray).flat();
  return [place, ...others.flatMap((other) => alternativesOf(root, other))];
}

function recordAt(value: unknown, key: string): JsonSchema {
  return recordOf(recordOf(value)[key]);
}

function recordOf(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
