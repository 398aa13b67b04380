import { EMPTY, NO_STRINGS, type StringMap } from "../../core/model/common.ts";

/** A map as the model has it; one object for all that are empty. */
export function stringMap(entries: ReadonlyMap<string, string>): StringMap {
  return entries.size === 0 ? NO_STRINGS : Object.fromEntries(entries);
}

/** Many lists are empty: they share one array. */
export function orEmpty<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? EMPTY : list;
}
