import { CoreError } from "../../core/errors.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { type PathPart, problemsError } from "../../core/model/problems.ts";
import { parseState } from "../../sources/file/parse-state.ts";
import type { StateDescription } from "./state-description.ts";

/**
 * The objects that a description stands for.
 * @param within where in it stands what the caller gave: problems are told from there on
 * @throws CoreError ERR_STATE_INVALID with all problems, each with the field, its value and what would be right
 */
export function readDescription(
  description: StateDescription,
  within: readonly PathPart[] = [],
): readonly ModelObject[] {
  // Who does without types may give anything: what can not be spread would be a description of nothing.
  if (typeof description !== "object" || description === null || Array.isArray(description)) {
    throw new CoreError(
      "ERR_STATE_INVALID",
      `the description is ${JSON.stringify(description)}; expected an object, as a state file has one`,
    );
  }
  const bytes = Buffer.from(JSON.stringify({ version: 1, ...description }));
  try {
    return parseState([{ name: "description", bytes }]).objects;
  } catch (error) {
    if (!(error instanceof CoreError) || error.problems.length === 0) throw error;
    // There is no file whose lines could be told.
    const problems = error.problems.map(({ location: _, path, ...problem }) => ({
      ...problem,
      path: path.slice(within.length),
    }));
    throw problemsError(error.code, problems, { cause: error });
  }
}
