import type { PathPart } from "../../core/model/problems.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;
/** The bit that makes the bracket of an object of that of a list. */
const LIST_TO_OBJECT = 0x20;

/** What the scanning functions return where the text is not JSON; `JSON.parse` then says why. */
const MALFORMED = -1;

/** From where to where a value stands. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A member of an object or an entry of a list: where its key stands (if any) and its value begins. */
interface Member {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly start: number;
}

/** Looks at a member and returns where its value ends. */
type Visit = (member: Member) => number;

/**
 * The entries of the list at key `items` of an object, without reading them: a list of a whole cluster
 * can so be parsed entry by entry, and only one of them is in memory at a time. Undefined where the
 * text is something else.
 */
export function findItems(bytes: Uint8Array): { list: Span; items: readonly Span[] } | undefined {
  let list: Span | undefined;
  let items: Span[] = [];
  const readItem: Visit = ({ start }) => {
    const end = skipValue(bytes, start);
    items.push({ start, end });
    return end;
  };
  const top = skipSpace(bytes, 0);
  if (bytes[top] !== OPEN_OBJECT) return undefined;
  const end = eachMember(bytes, top, (member) => {
    const { start } = member;
    if (bytes[start] !== OPEN_LIST || keyOf(bytes, member) !== "items")
      return skipValue(bytes, start);
    items = [];
    list = { start, end: eachMember(bytes, start, readItem) };
    return list.end;
  });
  return end === MALFORMED || list === undefined ? undefined : { list, items };
}

/** Where the value at `path` stands, or the nearest thing around it that exists. */
export function locateInJson(bytes: Uint8Array, path: readonly PathPart[], from = 0): number {
  let at = skipSpace(bytes, from);
  let found = at;
  for (const part of path) {
    let next: Member | undefined;
    let index = 0;
    const isObject = isObjectAt(bytes, at);
    if (isObject !== (typeof part === "string")) return found;
    eachMember(bytes, at, (member) => {
      if (isObject ? keyOf(bytes, member) === part : index === part) next = member;
      index++;
      return skipValue(bytes, member.start);
    });
    if (next === undefined) return found;
    const { keyStart, start }: Member = next;
    found = keyStart;
    at = start;
  }
  return found;
}

/** Whether an object stands at `start`, or a list; undefined where it is neither. */
export function isObjectAt(bytes: Uint8Array, start: number): boolean | undefined {
  if (bytes[start] === OPEN_OBJECT) return true;
  return bytes[start] === OPEN_LIST ? false : undefined;
}

/** Calls `visit` for what is in the object or list at `start`; returns where that ends. */
export function eachMember(bytes: Uint8Array, start: number, visit: Visit): number {
  const isObject = isObjectAt(bytes, start);
  if (isObject === undefined) return MALFORMED;
  const close = isObject ? CLOSE_OBJECT : CLOSE_LIST;
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === close) return at + 1;
  for (;;) {
    const member = isObject ? memberAt(bytes, at) : { keyStart: at, keyEnd: at, start: at };
    const end = member === undefined ? MALFORMED : visit(member);
    if (end === MALFORMED) return MALFORMED;
    at = skipSpace(bytes, end);
    if (bytes[at] === close) return at + 1;
    if (bytes[at] !== COMMA) return MALFORMED;
    at = skipSpace(bytes, at + 1);
  }
}

function memberAt(bytes: Uint8Array, keyStart: number): Member | undefined {
  const keyEnd = bytes[keyStart] === QUOTE ? skipString(bytes, keyStart) : MALFORMED;
  if (keyEnd === MALFORMED) return undefined;
  const colon = skipSpace(bytes, keyEnd);
  if (bytes[colon] !== COLON) return undefined;
  return { keyStart, keyEnd, start: skipSpace(bytes, colon + 1) };
}

export function keyOf(bytes: Uint8Array, { keyStart, keyEnd }: Member): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + keyStart, keyEnd - keyStart).toString();
  try {
    const key: unknown = JSON.parse(text);
    return String(key);
  } catch {
    return text;
  }
}

export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] ?? 0) <= SPACE) at++;
  return at;
}

function skipString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE) return at + 1;
  }
  return MALFORMED;
}

export function skipValue(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  if (first === OPEN_OBJECT || first === OPEN_LIST) return skipNested(bytes, start);
  let at = start;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= SPACE || byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT) break;
  }
  return at === start ? MALFORMED : at;
}

/** To the end of what opens at `start`. Only counts brackets: `JSON.parse` does the checking. */
function skipNested(bytes: Uint8Array, start: number): number {
  let depth = 0;
  let at = start;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      if (at === MALFORMED) return MALFORMED;
      continue;
    }
    at++;
    const bracket = (byte ?? 0) | LIST_TO_OBJECT;
    if (bracket === OPEN_OBJECT) depth++;
    else if (bracket === CLOSE_OBJECT && --depth === 0) return at;
  }
  return MALFORMED;
}
