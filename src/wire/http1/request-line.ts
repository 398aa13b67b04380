import {
  AUTHORITY,
  CR,
  equalsIgnoringCase,
  equalsText,
  isOf,
  LF,
  SPACE,
  skip,
  TARGET,
  TOKEN,
} from "./characters.ts";
import { type HttpProblem, PROBLEMS } from "./http-problem.ts";

/** How a request says what it is for (RFC 9112 section 3.2). */
export type TargetForm = "origin" | "absolute" | "authority" | "asterisk";

/** A request line as offsets into its bytes. Used again for each request. */
export interface RequestLine {
  start: number;
  method: string;
  /** 0 or 1, of HTTP/1.x. */
  minorVersion: number;
  form: TargetForm;
  targetStart: number;
  targetEnd: number;
  /** The host in the target; empty range where it holds none. */
  authorityStart: number;
  authorityEnd: number;
  /** Path and query; empty range where the target has none. */
  pathStart: number;
  pathEnd: number;
}

const COMMON_METHODS = ["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT"];
const VERSION_NAME = "HTTP/";
const VERSION_PREFIX = "HTTP/1.";
const SLASH = 0x2f;
const ASTERISK = 0x2a;
const QUESTION_MARK = 0x3f;
const DIGIT_ZERO = 0x30;
const SCHEMES = ["http://", "https://"];

export function createRequestLine(): RequestLine {
  return {
    start: 0,
    method: "",
    minorVersion: 0,
    form: "origin",
    targetStart: 0,
    targetEnd: 0,
    authorityStart: 0,
    authorityEnd: 0,
    pathStart: 0,
    pathEnd: 0,
  };
}

/** Reads the line that begins at `start` and is complete. Returns where the next one begins. */
export function parseRequestLine(
  line: RequestLine,
  bytes: Buffer,
  start: number,
  maxTargetBytes: number,
): number | HttpProblem {
  const methodEnd = skip(bytes, start, TOKEN);
  if (methodEnd === start || bytes[methodEnd] !== SPACE) return PROBLEMS.requestLine;
  const targetStart = methodEnd + 1;
  const targetEnd = skip(bytes, targetStart, TARGET);
  if (targetEnd === targetStart || bytes[targetEnd] !== SPACE) return PROBLEMS.requestLine;
  if (targetEnd - targetStart > maxTargetBytes) return PROBLEMS.targetTooLong;
  const versionEnd = readVersion(line, bytes, targetEnd + 1);
  if (typeof versionEnd !== "number") return versionEnd;
  if (bytes[versionEnd] !== CR || bytes[versionEnd + 1] !== LF) return PROBLEMS.requestLine;
  line.start = start;
  line.method = readMethod(bytes, start, methodEnd);
  line.targetStart = targetStart;
  line.targetEnd = targetEnd;
  return readTarget(line, bytes) ? versionEnd + 2 : PROBLEMS.target;
}

function readMethod(bytes: Buffer, start: number, end: number): string {
  for (const method of COMMON_METHODS) if (equalsText(bytes, start, end, method)) return method;
  return bytes.toString("latin1", start, end);
}

/** `HTTP/1.0` or `HTTP/1.1`. Returns where it ends. */
export function readVersion(
  line: { minorVersion: number },
  bytes: Uint8Array,
  start: number,
): number | HttpProblem {
  const nameEnd = start + VERSION_NAME.length;
  if (!equalsText(bytes, start, nameEnd, VERSION_NAME)) return PROBLEMS.noVersion;
  const digitAt = start + VERSION_PREFIX.length;
  const minorVersion = (bytes[digitAt] ?? 0) - DIGIT_ZERO;
  const isKnown = equalsText(bytes, start, digitAt, VERSION_PREFIX);
  if (!isKnown || (minorVersion !== 0 && minorVersion !== 1)) return PROBLEMS.version;
  line.minorVersion = minorVersion;
  return digitAt + 1;
}

/** False where it is of none of the four forms, or of one that the method does not have. */
function readTarget(line: RequestLine, bytes: Buffer): boolean {
  const { method, targetStart: start, targetEnd: end } = line;
  line.authorityStart = start;
  line.authorityEnd = start;
  line.pathStart = end;
  line.pathEnd = end;
  if (method === "CONNECT") return readAuthorityForm(line, bytes);
  if (bytes[start] === SLASH) {
    line.form = "origin";
    line.pathStart = start;
    return true;
  }
  if (bytes[start] === ASTERISK && end - start === 1) {
    line.form = "asterisk";
    return method === "OPTIONS";
  }
  return readAbsoluteForm(line, bytes);
}

function readAuthorityForm(line: RequestLine, bytes: Buffer): boolean {
  line.form = "authority";
  line.authorityEnd = line.targetEnd;
  return isAuthority(bytes, line.targetStart, line.targetEnd);
}

function readAbsoluteForm(line: RequestLine, bytes: Buffer): boolean {
  const { targetStart: start, targetEnd: end } = line;
  const scheme = SCHEMES.find((one) => equalsIgnoringCase(bytes, start, start + one.length, one));
  if (scheme === undefined) return false;
  line.form = "absolute";
  line.authorityStart = start + scheme.length;
  line.authorityEnd = Math.min(end, skip(bytes, line.authorityStart, AUTHORITY));
  line.pathStart = line.authorityEnd;
  const after = bytes[line.authorityEnd];
  const isPathNext = after === SLASH || after === QUESTION_MARK || line.authorityEnd === end;
  return isPathNext && line.authorityEnd > line.authorityStart;
}

/** Without the query; `/` where there is none. Empty where the target is not about a resource. */
export function pathOf({ form, pathStart, pathEnd }: RequestLine, bytes: Buffer): string {
  if (form === "asterisk" || form === "authority") return "";
  let end = pathStart;
  while (end < pathEnd && bytes[end] !== QUESTION_MARK) end += 1;
  return end === pathStart ? "/" : bytes.toString("latin1", pathStart, end);
}

/** Whether it is made of what a host and a port are made of. */
export function isAuthority(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!isOf(bytes[at], AUTHORITY)) return false;
  return true;
}
