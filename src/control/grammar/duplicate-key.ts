import type { PathPart, Problem } from "../../core/model/problems.ts";
import { findDuplicateKey } from "../../sources/file/json-duplicates.ts";

/**
 * The first key that stands twice in an object of a JSON text: `JSON.parse` takes the last, and what
 * was meant by the other would be lost without a word.
 * @param place where the text stands
 */
export function duplicateKeyProblem(text: string, place: readonly PathPart[]): Problem | undefined {
  const twice = findDuplicateKey(Buffer.from(text));
  if (twice === undefined) return undefined;
  return {
    path: [...place, ...twice.path],
    fault: "malformed",
    value: "the key is there twice",
    expected: "each key once",
  };
}
