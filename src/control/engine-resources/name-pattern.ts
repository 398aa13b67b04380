import { createContext, Script } from "node:vm";
import { CoreError } from "../../core/errors.ts";
import { invalid, problemsError } from "../../core/model/problems.ts";

/** What is typed for one thing by its name, or for all whose names a pattern fits: `/regex/`. */
export interface NamePattern {
  /** Whether it may mean many, or none. */
  readonly isPattern: boolean;
  /** @throws CoreError ERR_USAGE where a pattern takes too long */
  choose<T>(items: readonly T[], nameOf: (item: T) => string): readonly T[];
}

const MAX_PATTERN = 200;
/**
 * So long it may hold up all others. Some patterns would take for ever, and only a machine of its own ends them. The
 * time is that of the clock: what a busy machine was late for is tried again, for longer.
 */
const MATCH_LIMITS_MS = [50, 250] as const;
const MAX_MATCH_MS = MATCH_LIMITS_MS[1];

const MATCH_ALL = new Script("names.filter((name) => pattern.test(name))");
const NOTHING_ASKED: Question = { pattern: /(?:)/u, names: [] };
/** Made once: that takes longer than most patterns do. */
const SANDBOX = createContext({ ...NOTHING_ASKED });

interface Question {
  readonly pattern: RegExp;
  readonly names: readonly string[];
}

/** @throws CoreError ERR_USAGE where it is a pattern that can not be read */
export function namePattern(name: string): NamePattern {
  const isPattern = name.length > 2 && name.startsWith("/") && name.endsWith("/");
  if (!isPattern) {
    return { isPattern, choose: (items, nameOf) => items.filter((item) => nameOf(item) === name) };
  }
  const pattern = readPattern(name);
  return {
    isPattern,
    choose: (items, nameOf) => {
      const fitting = matching(pattern, items.map(nameOf));
      return items.filter((item) => fitting.has(nameOf(item)));
    },
  };
}

function matching(pattern: RegExp, names: readonly string[]): ReadonlySet<unknown> {
  Object.assign(SANDBOX, { pattern, names } satisfies Question);
  try {
    return new Set(matchInTime(pattern));
  } finally {
    Object.assign(SANDBOX, NOTHING_ASKED);
  }
}

function matchInTime(pattern: RegExp): Iterable<unknown> {
  let cause: unknown;
  for (const timeout of MATCH_LIMITS_MS) {
    try {
      return MATCH_ALL.runInContext(SANDBOX, { timeout });
    } catch (error) {
      if (!isTimeout(error)) throw error;
      cause = error;
    }
  }
  const message = `the pattern /${pattern.source}/ takes longer than ${MAX_MATCH_MS} ms; expected one without repetitions inside repetitions`;
  throw new CoreError("ERR_USAGE", message, { cause });
}

/** The error is one of the context's own: no `instanceof` knows it here. */
function isTimeout(error: unknown): boolean {
  const isObject = typeof error === "object" && error !== null;
  return isObject && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

function readPattern(name: string): RegExp {
  try {
    if (name.length <= MAX_PATTERN) return new RegExp(name.slice(1, -1), "u");
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const expected = `a regular expression between slashes, of at most ${MAX_PATTERN} characters`;
  throw problemsError("ERR_USAGE", [invalid(["name"], name, expected)]);
}
