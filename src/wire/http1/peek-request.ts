import { AUTHORITY, BLANK, COLON, CR, LF, SPACE, skip, TOKEN } from "./characters.ts";
import { fieldOf } from "./field-id.ts";
import { createRequestLine, parseRequestLine, pathOf, type RequestLine } from "./request-line.ts";

/** What the first bytes of a connection say about where it wants to go. */
export type RequestPeek =
  | { readonly kind: "more" }
  | { readonly kind: "not-http" }
  /** Empty where it is not said. */
  | { readonly kind: "request"; readonly host: string; readonly path: string };

const MORE: RequestPeek = Object.freeze({ kind: "more" });
const NOT_HTTP: RequestPeek = Object.freeze({ kind: "not-http" });
const MAX_METHOD_BYTES = 32;

/**
 * Looks for host and path of an HTTP/1 request whose bytes will be passed on as they are. It knows
 * with the first bytes what is no HTTP, and waits no longer than for the Host field.
 * @param maxBytes how far to look; a request without a host by then has none.
 */
export function peekRequest(
  bytes: Buffer,
  start: number,
  end: number,
  maxBytes: number,
): RequestPeek {
  const isAtLimit = end - start >= maxBytes;
  if (lineEndAfter(bytes, start, end) < 0) {
    return isAtLimit || !mayBeRequestLine(bytes, start, end) ? NOT_HTTP : MORE;
  }
  const line = createRequestLine();
  const fieldsStart = parseRequestLine(line, bytes, start, maxBytes);
  if (typeof fieldsStart !== "number") return NOT_HTTP;
  if (line.authorityEnd > line.authorityStart) {
    return found(line, bytes, bytes.toString("latin1", line.authorityStart, line.authorityEnd));
  }
  const host = findHost(bytes, fieldsStart, end);
  if (host === undefined && !isAtLimit) return MORE;
  return found(line, bytes, host ?? "");
}

function found(line: RequestLine, bytes: Buffer, host: string): RequestPeek {
  return { kind: "request", host, path: pathOf(line, bytes) };
}

/** A method, and a space after it where that is there already. */
function mayBeRequestLine(bytes: Buffer, start: number, end: number): boolean {
  const methodEnd = Math.min(skip(bytes, start, TOKEN), end);
  if (methodEnd - start > MAX_METHOD_BYTES) return false;
  return methodEnd === end || (methodEnd > start && bytes[methodEnd] === SPACE);
}

/** Empty where the head has none; undefined where the line with it is not there yet. */
function findHost(bytes: Buffer, from: number, end: number): string | undefined {
  let lineStart = from;
  for (;;) {
    const lineEnd = lineEndAfter(bytes, lineStart, end);
    if (lineEnd < 0) return undefined;
    const nameEnd = skip(bytes, lineStart, TOKEN);
    if (nameEnd === lineStart || bytes[nameEnd] !== COLON) return "";
    if (fieldOf(bytes, lineStart, nameEnd) === "host") return hostIn(bytes, nameEnd + 1);
    lineStart = lineEnd;
  }
}

function hostIn(bytes: Buffer, from: number): string {
  const start = skip(bytes, from, BLANK);
  const end = skip(bytes, start, AUTHORITY);
  const isWhole = bytes[skip(bytes, end, BLANK)] === CR;
  return isWhole ? bytes.toString("latin1", start, end) : "";
}

/** Where the next line begins; -1 where this one is not complete. */
function lineEndAfter(bytes: Buffer, start: number, end: number): number {
  const lineFeed = bytes.indexOf(LF, start);
  return lineFeed < 0 || lineFeed >= end ? -1 : lineFeed + 1;
}
