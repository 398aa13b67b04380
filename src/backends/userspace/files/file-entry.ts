/** What is known of a file. */
export interface FileEntry<T> {
  /** The last that could be read; undefined where none could so far. */
  readonly value: T | undefined;
  /** Why what stands there now can not be used; empty where it can. */
  readonly problem: string;
}

/** What a book has of a path. */
export function entryOf<T>(entries: ReadonlyMap<string, FileEntry<T>>, path: string): FileEntry<T> {
  return entries.get(path) ?? { value: undefined, problem: "not read yet" };
}

/** Tells that the value before is used, where there is something wrong with the one after it. */
export function keptNote(what: string, problem: string): string[] {
  return problem === "" ? [] : [`${what}; what it said before is kept`];
}
