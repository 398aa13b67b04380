/** No command begins with one of these, and every request of a browser does. */
const METHODS = [
  "get",
  "head",
  "post",
  "put",
  "delete",
  "connect",
  "options",
  "trace",
  "patch",
  "pri",
];
const LONGEST_BEGINNING = 16;
const HTTP_METHOD = new RegExp(`^(?:${METHODS.join("|")})[ \\t]`, "i");
const HTTP_FIELD = /^(?:host|origin|referer|cookie):/i;
const HTTP_VERSION = / HTTP\/\d(?:\.\d)?$/;
const TAB = 0x09;
const CR = 0x0d;
const SPACE = 0x20;
const DELETE = 0x7f;

/**
 * What a line is that does not begin an array, judged by as much as is there of it. `binary`: a byte
 * that no line begins with, as TLS does.
 */
export function inlineKind(
  bytes: Buffer,
  start: number,
  end: number,
  isWhole: boolean,
): "text" | "http" | "binary" {
  const first = bytes[start];
  if (end > start && first !== undefined && !mayBegin(first)) return "binary";
  const beginning = bytes.toString("latin1", start, Math.min(end, start + LONGEST_BEGINNING));
  if (HTTP_METHOD.test(beginning) || HTTP_FIELD.test(beginning)) return "http";
  // Also methods that nobody has heard of.
  const ending = bytes.toString("latin1", Math.max(start, end - LONGEST_BEGINNING), end);
  return isWhole && HTTP_VERSION.test(ending) ? "http" : "text";
}

function mayBegin(byte: number): boolean {
  return (byte >= SPACE && byte !== DELETE) || byte === TAB || byte === CR;
}
