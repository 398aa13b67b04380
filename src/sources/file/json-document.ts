import type { PathPart } from "../../core/model/problems.ts";
import { findDuplicateKey } from "./json-duplicates.ts";
import { jsonErrorAt } from "./json-error-at.ts";
import { findItems, locateInJson, type Span } from "./json-scan.ts";
import { malformed } from "./malformed.ts";
import type { Document, StateFile } from "./state-file.ts";

const OPENING_BRACKETS = "{[";
/** How much an error shows of what it does not understand. */
const MAX_SHOWN = 10;

/** More than people write; in bytes. */
const MAX_LOOKED_INTO = 4_194_304;

/** Whether the text begins as JSON does; it may still be YAML in flow style. */
export function isJson(bytes: Uint8Array): boolean {
  const start = bytes.findIndex((byte) => byte > 0x20);
  return start >= 0 && OPENING_BRACKETS.includes(String.fromCharCode(bytes[start] ?? 0));
}

/**
 * Reads a file as JSON. Undefined where it is none and its name does not say that it should be: it
 * may be YAML in flow style then.
 */
export function jsonDocument(file: StateFile): Document | undefined {
  const { bytes } = file;
  const found = findItems(bytes);
  if (found === undefined) return wholeDocument(file);
  const { list, items } = found;
  const before = textOf(bytes, { start: 0, end: list.start });
  const after = textOf(bytes, { start: list.end, end: bytes.length });
  const raw = parse(file, `${before}[]${after}`, 0);
  // Not in so many entries: a program wrote them, and to look there makes a large state slower to load.
  refuseDuplicates(file, list.end - list.start > MAX_LOOKED_INTO ? list : undefined);
  return {
    file,
    raw,
    items: parseEach(file, items),
    lineOf: (path) => lineAt(bytes, locate(bytes, items, path)),
  };
}

function wholeDocument(file: StateFile): Document | undefined {
  const { bytes } = file;
  const text = textOf(bytes, { start: 0, end: bytes.length });
  const lineOf = (path: readonly PathPart[]) => lineAt(bytes, locateInJson(bytes, path));
  const raw = file.name.endsWith(".json") ? parse(file, text, 0) : parseIfJson(text);
  if (raw === undefined) return undefined;
  refuseDuplicates(file);
  return { file, raw, items: undefined, lineOf };
}

/** Undefined where it is something else. */
function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws CoreError ERR_STATE_INVALID for a key that stands twice in an object, as YAML refuses it */
function refuseDuplicates(file: StateFile, skip?: Span): void {
  const twice = findDuplicateKey(file.bytes, skip);
  if (twice === undefined) return;
  const line = lineAt(file.bytes, twice.at);
  const reason = "the key is there twice";
  throw malformed({ file, line, path: twice.path, reason, expected: "each key once" });
}

function* parseEach(file: StateFile, items: readonly Span[]): Generator<unknown> {
  for (const item of items) yield parse(file, textOf(file.bytes, item), item.start);
}

/** @param offset where in the file the text begins */
function parse(file: StateFile, text: string, offset: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const at = jsonErrorAt(text);
    const rest = text.slice(at, at + MAX_SHOWN);
    const reason = rest === "" ? "the text ends too early" : `unexpected ${JSON.stringify(rest)}`;
    const line = lineAt(file.bytes, offset + Buffer.byteLength(text.slice(0, at)));
    throw malformed({ file, line, reason, expected: "well-formed JSON", cause });
  }
}

function locate(bytes: Uint8Array, items: readonly Span[], path: readonly PathPart[]): number {
  const [first, index, ...rest] = path;
  const item = first === "items" && typeof index === "number" ? items[index] : undefined;
  return item === undefined ? locateInJson(bytes, path) : locateInJson(bytes, rest, item.start);
}

function textOf(bytes: Uint8Array, { start, end }: Span): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}

function lineAt(bytes: Uint8Array, offset: number): number {
  let line = 1;
  for (let at = bytes.indexOf(0x0a); at >= 0 && at < offset; at = bytes.indexOf(0x0a, at + 1))
    line++;
  return line;
}
