/** What one field of a record holds; lists are printed with commas between. */
export type Cell = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

/** A thing with its fields, in the order in which people read them; `name` comes first. */
export type ResultRecord = Readonly<Record<string, Cell>>;

/**
 * What a command comes to. Controllers only render it: a table at the console, RESP types, JSON. What
 * fails is thrown as a `CoreError`, with all problems.
 */
export type Result =
  /** Something was changed. `note` is for people: what is still under way. */
  | { readonly kind: "done"; readonly note: string }
  | { readonly kind: "names"; readonly names: readonly string[] }
  | { readonly kind: "records"; readonly records: readonly ResultRecord[] }
  | { readonly kind: "number"; readonly value: number }
  /** For people: manuals, the configuration. */
  | { readonly kind: "text"; readonly text: string };

export const DONE: Result = { kind: "done", note: "" };

/** @param notes empty ones are left out */
export function doneWith(...notes: readonly string[]): Result {
  return { kind: "done", note: notes.filter((note) => note !== "").join("; ") };
}
