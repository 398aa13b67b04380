import { CORE_SCHEMA, load, loadAll, mergeTag, YAMLException } from "js-yaml";
import { locateInYaml } from "./locate-in-yaml.ts";
import { malformed } from "./malformed.ts";
import { readPlainYaml } from "./plain-yaml.ts";
import type { Document, StateFile } from "./state-file.ts";
import { expandsTooFar } from "./tree-limits.ts";

const OPTIONS = { schema: CORE_SCHEMA.withTags(mergeTag), maxDepth: 100 };

const START = "---";
/** Lines that make a file more than documents between `---`: directives and explicit ends. */
const UNUSUAL_LINES = ["%", "..."];
const CONTENT = /^[ \t]*[^\s#]/m;
const WHITE_SPACE = " \t\r\n";

/** Part of a file: one document, or all of it where it can not be taken apart by lines alone. */
interface Chunk {
  readonly text: string;
  readonly firstLine: number;
}

/** The documents of a YAML file. Each is parsed when it is asked for, so that one at a time is in memory. */
export function* yamlDocuments(file: StateFile): Generator<Document> {
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.length);
  if (UNUSUAL_LINES.some((start) => findLine(bytes, start, 0) >= 0)) {
    const chunk = { text: bytes.toString(), firstLine: 1 };
    const raws = parse(file, chunk, () => loadAll(chunk.text, OPTIONS));
    yield* raws.flatMap((raw, index) => documentOf(file, chunk, raw, index) ?? []);
    return;
  }
  for (const chunk of chunksOf(bytes)) {
    if (!CONTENT.test(chunk.text.startsWith(START) ? chunk.text.slice(START.length) : chunk.text)) {
      continue;
    }
    const plain = readPlainYaml(chunk.text);
    const raw = plain ? plain.value : parse(file, chunk, () => load(chunk.text, OPTIONS));
    const document = documentOf(file, chunk, raw, 0);
    if (document !== undefined) yield document;
  }
}

/** At column 0 a `---` always begins a document: YAML forbids it inside of scalars. */
function* chunksOf(bytes: Buffer): Generator<Chunk> {
  let firstLine = 1;
  for (let start = 0; start < bytes.length; ) {
    const end = nextStart(bytes, start + 1);
    const text = bytes.toString("utf8", start, end);
    yield { text, firstLine };
    firstLine += linesIn(text);
    start = end;
  }
}

function nextStart(bytes: Buffer, from: number): number {
  for (let at = findLine(bytes, START, from); at >= 0; at = findLine(bytes, START, at + 1)) {
    const after = bytes[at + START.length];
    if (after === undefined || WHITE_SPACE.includes(String.fromCharCode(after))) return at;
  }
  return bytes.length;
}

/** Where a line that begins so begins, not before `from`. */
function findLine(bytes: Buffer, start: string, from: number): number {
  if (from === 0 && bytes.subarray(0, start.length).equals(Buffer.from(start))) return 0;
  const at = bytes.indexOf(`\n${start}`, Math.max(0, from - 1));
  return at < 0 ? -1 : at + 1;
}

function documentOf(
  file: StateFile,
  { text, firstLine }: Chunk,
  raw: unknown,
  index: number,
): Document | undefined {
  if (raw === null || raw === undefined) return undefined;
  if (text.includes("*") && expandsTooFar(raw, text.length)) {
    const reason = "aliases that stand for far more than the file holds";
    throw malformed({ file, line: firstLine, reason, expected: "fewer aliases" });
  }
  const lineOf: Document["lineOf"] = (path) =>
    firstLine + linesIn(text.slice(0, locateInYaml(text, path, index)));
  return { file, raw, items: undefined, lineOf };
}

function parse<T>(file: StateFile, { firstLine }: Chunk, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const isYaml = cause instanceof YAMLException;
    const reason = isYaml ? cause.reason : `unreadable (${String(cause)})`;
    const line = firstLine + (isYaml ? (cause.mark?.line ?? 0) : 0);
    throw malformed({ file, line, reason, expected: "well-formed YAML", cause });
  }
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
