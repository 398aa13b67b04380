import { equalsIgnoringCase } from "./characters.ts";

/** The fields that a proxy looks at; all others are `other`. */
const FIELDS = [
  "other",
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "upgrade",
  "http2-settings",
  "expect",
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
  "x-forwarded-port",
] as const;

export type FieldName = (typeof FIELDS)[number];

const BY_LENGTH: FieldName[][] = [];
for (const name of FIELDS.slice(1)) {
  const others = BY_LENGTH[name.length];
  if (others === undefined) BY_LENGTH[name.length] = [name];
  else others.push(name);
}

/** Which field the name in `bytes` is, in whichever case. */
export function fieldOf(bytes: Uint8Array, start: number, end: number): FieldName {
  const candidates = BY_LENGTH[end - start];
  if (candidates === undefined) return "other";
  for (const name of candidates) if (equalsIgnoringCase(bytes, start, end, name)) return name;
  return "other";
}
