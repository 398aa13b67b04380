import { deepEqual } from "../../core/model/equal.ts";
import type { PathPart } from "../../core/model/problems.ts";

/** A field that two versions of an object do not have in common; undefined: it is not there. */
export interface FieldDifference {
  readonly path: readonly PathPart[];
  readonly before: unknown;
  readonly after: unknown;
}

/** What entries of a list are called by, where all have it. */
const NAME_FIELDS = ["name", "group", "address"] as const;

type Fields = Readonly<Record<string, unknown>>;

/** The innermost fields that differ. Entries of lists that have names are compared by name. */
export function fieldDifferences(
  before: unknown,
  after: unknown,
  path: readonly PathPart[] = [],
): readonly FieldDifference[] {
  if (deepEqual(before, after)) return [];
  if (isFields(before) && isFields(after)) return inFields(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) return inLists(before, after, path);
  return [{ path, before, after }];
}

function inFields(
  before: Fields,
  after: Fields,
  path: readonly PathPart[],
): readonly FieldDifference[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => fieldDifferences(before[key], after[key], [...path, key]));
}

function inLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: readonly PathPart[],
): readonly FieldDifference[] {
  for (const field of NAME_FIELDS) {
    const [old, fresh] = [byName(before, field), byName(after, field)];
    if (old === undefined || fresh === undefined) continue;
    const differences = inFields(old, fresh, path);
    // The same entries in another order.
    return differences.length > 0
      ? differences
      : [{ path, before: Object.keys(old), after: Object.keys(fresh) }];
  }
  const isSameShape = before.length === after.length && [...before, ...after].every(isFields);
  if (!isSameShape) return [{ path, before, after }];
  return before.flatMap((entry, index) => fieldDifferences(entry, after[index], [...path, index]));
}

/** Undefined where an entry has no such name, or two have the same. */
function byName(list: readonly unknown[], field: string): Fields | undefined {
  const entries = new Map<string, unknown>();
  for (const entry of list) {
    const name = isFields(entry) ? entry[field] : undefined;
    if (typeof name !== "string" || name === "" || entries.has(name)) return undefined;
    entries.set(name, entry);
  }
  return Object.fromEntries(entries);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
