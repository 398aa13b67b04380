import { CoreError } from "../../core/errors.ts";
import { canonicalJson } from "../../core/model/hash.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { checkObject } from "../../core/model/parse.ts";
import { invalid, problemsError } from "../../core/model/problems.ts";
import { duplicateKeyProblem } from "../grammar/duplicate-key.ts";
import { parseJson } from "../grammar/param-value.ts";

const OBJECT_LINE = /^\s*System:\s*set\s+(?<json>.*)$/i;

/** The line of a configuration for what no command can say exactly, such as labels. */
export function formatObjectLine(object: ModelObject): string {
  return `System: set ${canonicalJson(object)}`;
}

/**
 * Reads such a line; undefined where it is another one.
 * @throws CoreError ERR_USAGE with all problems
 */
export function parseObjectLine(line: string): ModelObject | undefined {
  const json = OBJECT_LINE.exec(line)?.groups?.["json"];
  if (json === undefined) return undefined;
  const raw = parseJson(json);
  if (raw === undefined) {
    throw problemsError("ERR_USAGE", [invalid(["set"], json, "an object of the model as JSON")]);
  }
  const twice = duplicateKeyProblem(json, ["set"]);
  if (twice !== undefined) throw problemsError("ERR_USAGE", [twice]);
  const checked = checkObject(raw, ["set"]);
  if (checked.ok) return checked.value;
  throw problemsError("ERR_USAGE", checked.problems);
}

/** The problems of an error, each with where it stands. */
export function locate(error: CoreError, location: string): CoreError {
  const problems = error.problems.map((problem) => ({
    ...problem,
    location: problem.location === undefined ? location : `${location}: ${problem.location}`,
  }));
  if (problems.length > 0) return problemsError(error.code, problems, { cause: error });
  return new CoreError(error.code, `${location}: ${error.message}`, { cause: error });
}
