import type { CoreError } from "../../core/errors.ts";
import { type PathPart, problemsError } from "../../core/model/problems.ts";
import type { StateFile } from "./state-file.ts";

/** Where in a file, and why, its text can not be read. */
export interface Malformation {
  readonly file: StateFile;
  readonly line: number;
  /** Of the field, where it is known. */
  readonly path?: readonly PathPart[];
  readonly reason: string;
  readonly expected: string;
  readonly cause?: unknown;
}

/** The error for a text that can not be read at all. */
export function malformed(malformation: Malformation): CoreError {
  const { file, line, path = [], reason, expected, cause } = malformation;
  const location = `${file.name}:${line}`;
  const problem = { path, fault: "malformed", value: reason, expected, location } as const;
  return problemsError("ERR_STATE_INVALID", [problem], { cause });
}
