import { FieldName } from "./field-name.ts";
import { HeaderField } from "./header-field.ts";

/** RFC 7541, appendix A; the first has the index 1. */
const ENTRIES: readonly (readonly [name: string, value?: string])[] = [
  [":authority"],
  [":method", "GET"],
  [":method", "POST"],
  [":path", "/"],
  [":path", "/index.html"],
  [":scheme", "http"],
  [":scheme", "https"],
  [":status", "200"],
  [":status", "204"],
  [":status", "206"],
  [":status", "304"],
  [":status", "400"],
  [":status", "404"],
  [":status", "500"],
  ["accept-charset"],
  ["accept-encoding", "gzip, deflate"],
  ["accept-language"],
  ["accept-ranges"],
  ["accept"],
  ["access-control-allow-origin"],
  ["age"],
  ["allow"],
  ["authorization"],
  ["cache-control"],
  ["content-disposition"],
  ["content-encoding"],
  ["content-language"],
  ["content-length"],
  ["content-location"],
  ["content-range"],
  ["content-type"],
  ["cookie"],
  ["date"],
  ["etag"],
  ["expect"],
  ["expires"],
  ["from"],
  ["host"],
  ["if-match"],
  ["if-modified-since"],
  ["if-none-match"],
  ["if-range"],
  ["if-unmodified-since"],
  ["last-modified"],
  ["link"],
  ["location"],
  ["max-forwards"],
  ["proxy-authenticate"],
  ["proxy-authorization"],
  ["range"],
  ["referer"],
  ["refresh"],
  ["retry-after"],
  ["server"],
  ["set-cookie"],
  ["strict-transport-security"],
  ["transfer-encoding"],
  ["user-agent"],
  ["vary"],
  ["via"],
  ["www-authenticate"],
];

const NAMES: Map<string, FieldName> = new Map();
for (const [index, [name]] of ENTRIES.entries()) {
  if (!NAMES.has(name)) NAMES.set(name, new FieldName(name, index + 1));
}

/** At index - 1. */
export const STATIC_FIELDS: readonly HeaderField[] = ENTRIES.map(
  ([name, value], index) =>
    new HeaderField(fieldName(name), value ?? "", { staticIndex: index + 1 }),
);

/** The name with where it stands in the static table. */
export function fieldName(text: string): FieldName {
  return NAMES.get(text) ?? new FieldName(text);
}

/** A field of our own making. */
export function headerField(name: string, value: string): HeaderField {
  return new HeaderField(fieldName(name), value);
}
