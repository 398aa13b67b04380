import type { HeaderField } from "../../wire/http2/hpack/header-field.ts";
import { headerField } from "../../wire/http2/hpack/static-table.ts";

/**
 * What must not come after a body (RFC 9110 section 6.5.1): who reads it there and who reads it in the
 * head would not see the same message.
 */
const HEAD_ONLY: ReadonlySet<string> = new Set([
  "authorization",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "cookie",
  "expect",
  "forwarded",
  "host",
  "http2-settings",
  "keep-alive",
  "max-forwards",
  "proxy-authorization",
  "proxy-connection",
  "range",
  "set-cookie",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-forwarded-for",
  "x-forwarded-proto",
]);

const LINE_END = "\r\n";

/** The lines of trailers for a server of HTTP/1.1. Names and values were checked: none ends a line. */
export function renderTrailers(fields: readonly HeaderField[]): string {
  const passed = fields.filter(({ name }) => !HEAD_ONLY.has(name.text.toLowerCase()));
  return passed.map(({ name, value }) => `${name.text}: ${value}${LINE_END}`).join("");
}

/**
 * The trailers of a body in chunks, for a client that speaks HTTP/2.
 * @param end what followed the last data: perhaps its line end, the last size, the trailers, an empty line; checked
 */
export function readTrailerLines(end: string): readonly HeaderField[] {
  const lines = end.startsWith(LINE_END) ? end.slice(LINE_END.length) : end;
  const [, ...trailers] = lines.split(LINE_END).filter((line) => line !== "");
  return trailers.flatMap((line) => {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    return HEAD_ONLY.has(name) ? [] : [headerField(name, trimBlanks(line.slice(colon + 1)))];
  });
}

function trimBlanks(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, "");
}
