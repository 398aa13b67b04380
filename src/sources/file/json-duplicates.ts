import type { PathPart } from "../../core/model/problems.ts";
import { eachMember, isObjectAt, keyOf, type Span, skipSpace, skipValue } from "./json-scan.ts";

/** What is nested deeper is refused elsewhere, or not read at all. */
const MAX_DEPTH = 100;

/** A key that its object has already. */
export interface DuplicateKey {
  readonly path: readonly PathPart[];
  /** Where it stands. */
  readonly at: number;
}

/**
 * The first key that an object of a JSON text has twice; `JSON.parse` takes the last without a word.
 * @param skip a value that is not looked into
 */
export function findDuplicateKey(bytes: Uint8Array, skip?: Span): DuplicateKey | undefined {
  let found: DuplicateKey | undefined;
  const walk = (start: number, path: readonly PathPart[]): number => {
    if (start === skip?.start) return skip.end;
    const isObject = isObjectAt(bytes, start);
    if (isObject === undefined || found !== undefined || path.length > MAX_DEPTH) {
      return skipValue(bytes, start);
    }
    const keys = new Set<PathPart>();
    return eachMember(bytes, start, (member) => {
      const key = isObject ? keyOf(bytes, member) : keys.size;
      const inner = [...path, key];
      if (keys.has(key)) found ??= { path: inner, at: member.keyStart };
      keys.add(key);
      return walk(member.start, inner);
    });
  };
  walk(skipSpace(bytes, 0), []);
  return found;
}
