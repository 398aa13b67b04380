import type * as z from "zod";
import { descriptionAt, inputSchemaOf, knownKeysAt } from "./json-schema.ts";
import { invalid, type PathPart, type Problem, unknownKey } from "./problems.ts";

type Issue = z.core.$ZodIssue;

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Checks `raw` against the schema and says all that is wrong with it, below `base`. */
export function checkAgainst<T>(
  schema: z.ZodType<T>,
  raw: unknown,
  base: readonly PathPart[] = [],
): Checked<T> {
  const result = schema.safeParse(raw);
  if (result.success) return { ok: true, value: result.data };
  const json = inputSchemaOf(schema);
  const problems = result.error.issues.flatMap((issue) =>
    problemsOf(issue, { raw, json, base, parent: [] }),
  );
  return { ok: false, problems };
}

interface Context {
  readonly raw: unknown;
  readonly json: unknown;
  readonly base: readonly PathPart[];
  /** Path of the union that the issue is of a branch of. */
  readonly parent: readonly PathPart[];
}

function problemsOf(issue: Issue, context: Context): readonly Problem[] {
  const path = [...context.parent, ...issue.path.map(partOf)];
  if (issue.code === "unrecognized_keys") {
    const known = knownKeysAt(context.json, path);
    return issue.keys.map((key) => unknownKey([...context.base, ...path, key], known));
  }
  if (issue.code === "invalid_union") {
    const branch = issue.errors.find((issues) => issues.some((inner) => !isWrongType(inner)));
    if (branch !== undefined) {
      return branch.flatMap((inner) => problemsOf(inner, { ...context, parent: path }));
    }
  }
  const value = issue.code === "invalid_key" ? path.at(-1) : valueAt(context.raw, path);
  const described = isTypeIssue(issue) ? descriptionAt(context.json, path) : "";
  return [invalid([...context.base, ...path], value, described || expectedOf(issue))];
}

function partOf(key: PropertyKey): PathPart {
  return typeof key === "number" ? key : String(key);
}

function isTypeIssue(issue: Issue): boolean {
  return issue.code === "invalid_type" || issue.code === "invalid_union";
}

/** Whether the branch of a union was simply not meant. */
function isWrongType(issue: Issue): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === "invalid_union") return issue.errors.flat().every(isWrongType);
  return issue.code === "invalid_type" || issue.code === "invalid_value";
}

function valueAt(raw: unknown, path: readonly PathPart[]): unknown {
  let value = raw;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part))
      return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function expectedOf(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return TYPE_WORDS[issue.expected] ?? issue.expected;
    case "invalid_value":
      return issue.values.length === 1
        ? JSON.stringify(issue.values[0])
        : `one of ${issue.values.map((value) => String(value)).join(", ")}`;
    case "too_small":
      return issue.origin === "string"
        ? "a text that is not empty"
        : boundOf(issue, "at least", issue.minimum);
    case "too_big":
      return boundOf(issue, "at most", issue.maximum);
    case "invalid_format":
      return issue.format === "starts_with" ? "a text that begins with /" : issue.message;
    case "invalid_union":
      return alternativesOf(issue.errors);
    case "invalid_key":
      return issue.issues.map(expectedOf).join(", ");
    default:
      return issue.message;
  }
}

function boundOf(issue: { readonly origin: string }, side: string, bound: number | bigint): string {
  if (issue.origin === "array") return `${side} ${bound} ${bound === 1 ? "entry" : "entries"}`;
  return issue.origin === "string" ? `${side} ${bound} characters` : `a number of ${side} ${bound}`;
}

function alternativesOf(branches: readonly (readonly Issue[])[]): string {
  return [...new Set(branches.flatMap((issues) => issues.map(expectedOf)))].join(" or ");
}
