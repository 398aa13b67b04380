import type { CoreError } from "../../core/errors.ts";
import { problemsError } from "../../core/model/problems.ts";

/** A piece of a command line. */
export interface Token {
  /** `quoted`: it is no word of the grammar, whatever it says. `json`: an object, with its braces. */
  readonly kind: "word" | "quoted" | "json";
  /** Without quotes and escapes; JSON as it stands. */
  readonly text: string;
  /** Where it begins; the first character of a line is in column 1. */
  readonly column: number;
}

export interface LineLimits {
  readonly maxChars: number;
  readonly maxTokens: number;
}

/** For lines that people and programs send; a file that is loaded may have longer ones. */
export const LINE_LIMITS: LineLimits = { maxChars: 65_536, maxTokens: 1024 };

const SPACE = /\s/;
const COMMENT = /^\s*#/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a line must not hold
const FORBIDDEN = /[\u0000-\u0008\u000a-\u001f]/;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["b", "\b"],
  ["f", "\f"],
  ["/", "/"],
  ["\\", "\\"],
  ['"', '"'],
  ["'", "'"],
]);

/**
 * Cuts a line into tokens; a comment or an empty line has none. `"..."` has the escapes of JSON,
 * `'...'` only those of itself and of the backslash; `{...}` is JSON up to its last brace.
 * @throws CoreError ERR_USAGE that names the column
 */
export function tokenize(line: string, limits: LineLimits = LINE_LIMITS): readonly Token[] {
  if (line.length > limits.maxChars) {
    throw malformed(
      limits.maxChars + 1,
      "the line is too long",
      `${limits.maxChars} characters at most`,
    );
  }
  const text = line.trimEnd();
  if (COMMENT.test(text)) return [];
  const forbidden = text.search(FORBIDDEN);
  if (forbidden >= 0) {
    const what = text[forbidden] === "\n" ? "a line break" : "a control character";
    throw malformed(forbidden + 1, what, 'one line; "\\n" or "\\u0000" in double quotes');
  }
  return cut(text, limits.maxTokens);
}

function cut(text: string, maxTokens: number): readonly Token[] {
  const tokens: Token[] = [];
  let at = skipSpace(text, 0);
  while (at < text.length) {
    const [token, end] = readToken(text, at);
    const next = text[end];
    if (next !== undefined && !SPACE.test(next)) {
      throw malformed(end + 1, `${JSON.stringify(next)} right after the end of a text`, "a space");
    }
    if (tokens.length === maxTokens) {
      throw malformed(at + 1, "too many words", `${maxTokens} at most`);
    }
    tokens.push(token);
    at = skipSpace(text, end);
  }
  return tokens;
}

/** The token that begins at `at`, and where it ends. */
function readToken(text: string, at: number): readonly [Token, number] {
  switch (text[at]) {
    case '"':
      return readDoubleQuoted(text, at);
    case "'":
      return readSingleQuoted(text, at);
    case "{":
      return readJson(text, at);
    default:
      return readWord(text, at);
  }
}

function readWord(text: string, at: number): readonly [Token, number] {
  let end = at;
  for (; end < text.length && !SPACE.test(text[end] ?? ""); end++) {
    const char = text[end];
    if (char === '"' || char === "'") {
      throw malformed(end + 1, `the quote ${char} inside of a word`, "quotes around all of it");
    }
  }
  return [{ kind: "word", text: text.slice(at, end), column: at + 1 }, end];
}

function readDoubleQuoted(text: string, at: number): readonly [Token, number] {
  let value = "";
  for (let index = at + 1; index < text.length; index++) {
    const char = text[index];
    if (char === '"') return [{ kind: "quoted", text: value, column: at + 1 }, index + 1];
    if (char !== "\\") {
      value += char;
      continue;
    }
    const [escaped, length] = readEscape(text, index);
    value += escaped;
    index += length - 1;
  }
  throw malformed(at + 1, 'the quote " is not closed', 'another " at the end of the text');
}

/** What `\n` or `\u00e9` at `at` stands for, and how many characters it takes. */
function readEscape(text: string, at: number): readonly [string, number] {
  const letter = text[at + 1] ?? "";
  const digits = text.slice(at + 2, at + 6);
  if (letter === "u" && /^[0-9a-fA-F]{4}$/.test(digits)) {
    return [String.fromCharCode(Number.parseInt(digits, 16)), 6];
  }
  const char = ESCAPES.get(letter);
  if (char !== undefined) return [char, 2];
  throw malformed(at + 1, `"\\${letter}" is no escape`, '"\\\\" for a backslash');
}

function readSingleQuoted(text: string, at: number): readonly [Token, number] {
  let value = "";
  for (let index = at + 1; index < text.length; index++) {
    const [char, next] = [text[index], text[index + 1]];
    if (char === "'") return [{ kind: "quoted", text: value, column: at + 1 }, index + 1];
    const isEscape = char === "\\" && (next === "'" || next === "\\");
    value += isEscape ? next : char;
    if (isEscape) index += 1;
  }
  throw malformed(at + 1, "the quote ' is not closed", "another ' at the end of the text");
}

/** Finds the brace that closes the one at `at`; whether it is good JSON is for others to say. */
function readJson(text: string, at: number): readonly [Token, number] {
  let depth = 0;
  for (let index = at; index < text.length; index++) {
    const char = text[index];
    if (char === '"') index = endOfString(text, index);
    else if (char === "{") depth += 1;
    else if (char === "}") depth -= 1;
    if (depth > 0) continue;
    return [{ kind: "json", text: text.slice(at, index + 1), column: at + 1 }, index + 1];
  }
  throw malformed(at + 1, "the brace { is not closed", "JSON with a } at its end");
}

/** Where the string of JSON that begins at `at` has its last quote. */
function endOfString(text: string, at: number): number {
  let index = at + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === "\\" ? 2 : 1;
  return index;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && SPACE.test(text[at] ?? "")) at += 1;
  return at;
}

function malformed(column: number, value: string, expected: string): CoreError {
  return problemsError("ERR_USAGE", [
    { path: [], fault: "malformed", value, expected, location: `column ${column}` },
  ]);
}
