import { CoreError, type ErrorCode } from "../errors.ts";

/** A key of an object, or an index of a list. */
export type PathPart = string | number;

/** One thing that is wrong with an input. */
export interface Problem {
  /** From the top of the input. */
  readonly path: readonly PathPart[];
  readonly fault: "invalid" | "missing" | "unknown key" | "taken" | "malformed";
  /** What is there, shortened and without secrets; empty where something is missing. */
  readonly value: string;
  /** What would be right. */
  readonly expected: string;
  /** Where it stands, `state.yaml:12`, where that is known. */
  readonly location?: string;
}

/** An error prints at most this many problems, and counts the rest. */
export const MAX_PRINTED = 20;
const MAX_VALUE_LENGTH = 60;
const PLAIN_KEY = /^[\w-]+$/;
const SECRET_KEY = /pass(word|phrase)?$|secret|token|private/i;
/** A key, or a URL with a password. */
const SECRET_TEXT = /PRIVATE KEY|:\/\/[^\s]*:[^\s]*@/;

/** `services[2].ports[0].port`; keys with other characters are quoted: `labels["a.example/b"]`. */
export function formatPath(path: readonly PathPart[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (!PLAIN_KEY.test(part)) text += `[${shorten(JSON.stringify(part))}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text;
}

/** One line for people: `ports[0].port: 70000 is not valid; expected a whole number from 1 to 65535`. */
export function formatProblem(problem: Problem): string {
  const place = [problem.location ?? "", formatPath(problem.path)].filter((part) => part !== "");
  const prefix = place.length === 0 ? "" : `${place.join(": ")}: `;
  return `${prefix}${faultOf(problem)}; expected ${problem.expected}`;
}

function faultOf(problem: Problem): string {
  switch (problem.fault) {
    case "missing":
      return "missing";
    case "unknown key":
      return "unknown key";
    case "malformed":
      return problem.value;
    case "taken":
      return `${problem.value} is taken`;
    case "invalid":
      return `${problem.value} is not valid`;
  }
}

/** A value as an error may show it: short, one line, and never a secret. */
export function showValue(value: unknown, path: readonly PathPart[] = []): string {
  const key = path.findLast((part) => typeof part === "string");
  if (typeof key === "string" && SECRET_KEY.test(key)) return "(hidden)";
  switch (typeof value) {
    case "string":
      return SECRET_TEXT.test(value) ? "(hidden)" : shorten(JSON.stringify(value));
    case "object":
      return showObject(value);
    default:
      return String(value);
  }
}

/** Not its contents: they may be deep, large or secret. */
function showObject(value: object | null): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  const [first, ...more] = Object.keys(value);
  if (first === undefined) return "an empty object";
  return `an object with ${shorten(JSON.stringify(first))}${more.length > 0 ? ", ..." : ""}`;
}

function shorten(text: string): string {
  return text.length <= MAX_VALUE_LENGTH ? text : `${text.slice(0, MAX_VALUE_LENGTH - 3)}...`;
}

export function invalid(path: readonly PathPart[], value: unknown, expected: string): Problem {
  if (value === undefined) return { path, fault: "missing", value: "", expected };
  return { path, fault: "invalid", value: showValue(value, path), expected };
}

/** A key that nothing reads; names the nearest one that is read, or all of them. */
export function unknownKey(path: readonly PathPart[], known: readonly string[]): Problem {
  const key = String(path.at(-1));
  const near = nearest(key, known);
  const expected = near !== undefined ? JSON.stringify(near) : listOf(known);
  return { path, fault: "unknown key", value: JSON.stringify(key), expected };
}

function listOf(words: readonly string[]): string {
  if (words.length === 0) return "no such key";
  return words.length === 1 ? words.join("") : `one of ${words.join(", ")}`;
}

/** The word that was probably meant, or undefined where none is near. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    // A short word is near to nearly everything.
    if (distance >= bestDistance || distance * 2 > candidate.length) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** Insertions, deletions and replacements that make one word of the other. */
function editDistance(a: string, b: string): number {
  const longest = 64;
  if (a.length > longest || b.length > longest) return longest;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? longest;
}

/** The error that refuses an input, with all its problems, a line each. */
export function problemsError(
  code: ErrorCode,
  problems: readonly Problem[],
  options?: ErrorOptions,
): CoreError {
  const lines = problems.slice(0, MAX_PRINTED).map(formatProblem);
  if (problems.length > MAX_PRINTED) lines.push(`and ${problems.length - MAX_PRINTED} more`);
  return new CoreError(code, lines.join("\n"), { ...options, problems });
}
