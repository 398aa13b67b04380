import { invalid, problemsError } from "../../core/model/problems.ts";

/** What is typed for one thing by its name, or for all whose names a pattern fits: `/regex/`. */
export interface NamePattern {
  /** Whether it may mean many, or none. */
  readonly isPattern: boolean;
  fits(name: string): boolean;
}

const MAX_PATTERN = 200;

/** @throws CoreError ERR_USAGE where it is a pattern that can not be read */
export function namePattern(name: string): NamePattern {
  const isPattern = name.length > 2 && name.startsWith("/") && name.endsWith("/");
  if (!isPattern) return { isPattern, fits: (other) => other === name };
  const pattern = readPattern(name);
  return { isPattern, fits: (other) => pattern.test(other) };
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
