import type { PathPart } from "../../core/model/problems.ts";

/** A file as it was read, or text from elsewhere under a name for people. */
export interface StateFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** One document of a file: a JSON text, or what stands between two `---` of a YAML one. */
export interface Document {
  readonly file: StateFile;
  readonly raw: unknown;
  /** The entries of `raw.items`, parsed one by one as they are asked for; undefined: they are in `raw`. */
  readonly items: Iterable<unknown> | undefined;
  /** The line, from 1, of what stands at the path, or of the nearest thing around it. Slow: for errors. */
  lineOf(path: readonly PathPart[]): number;
}
