import type * as z from "zod";
import { KINDS, type Kind, type ModelObject, type ObjectOf } from "./object.ts";
import { OBJECT_SCHEMAS } from "./object-schemas.ts";
import { invalid, nearest, type PathPart, problemsError } from "./problems.ts";
import { type Checked, checkAgainst } from "./zod-problems.ts";

/**
 * Reads an object of the model from plain data; fields with a default may be missing.
 * @throws CoreError ERR_STATE_INVALID with all problems
 */
export function parseObject(raw: unknown): ModelObject {
  return valueOrThrow(checkObject(raw));
}

/**
 * The same where the kind is known from elsewhere: `kind` may be missing.
 * @throws CoreError ERR_STATE_INVALID with all problems
 */
export function parseKind<K extends Kind>(kind: K, raw: unknown): ObjectOf<K> {
  const schema: z.ZodType<ObjectOf<K>> = OBJECT_SCHEMAS[kind];
  const withKind = isRecord(raw) && !Object.hasOwn(raw, "kind") ? { kind, ...raw } : raw;
  return valueOrThrow(checkAgainst(schema, withKind));
}

/** Like `parseObject`, but returns the problems, their paths below `base`. */
export function checkObject(raw: unknown, base: readonly PathPart[] = []): Checked<ModelObject> {
  if (!isRecord(raw)) return { ok: false, problems: [invalid(base, raw, "an object with a kind")] };
  const given = raw["kind"];
  const kind = KINDS.find((known) => known === given);
  if (kind === undefined) {
    const near = typeof given === "string" ? nearest(given, KINDS) : undefined;
    const expected = near ?? `one of ${KINDS.join(", ")}`;
    return { ok: false, problems: [invalid([...base, "kind"], given, expected)] };
  }
  const schema: z.ZodType<ModelObject> = OBJECT_SCHEMAS[kind];
  return checkAgainst(schema, raw, base);
}

function valueOrThrow<T>(checked: Checked<T>): T {
  if (checked.ok) return deepFreeze(checked.value);
  throw problemsError("ERR_STATE_INVALID", checked.problems);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Freezes plain data to the bottom. Not for what a source loads in bulk: that relies on the types alone. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
