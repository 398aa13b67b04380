import { isOf, TOKEN } from "../../http1/characters.ts";

/** The fields that a proxy looks at (RFC 9113 section 8). */
const KNOWN_NAMES = [
  ":authority",
  ":method",
  ":path",
  ":scheme",
  ":status",
  "connection",
  "content-length",
  "cookie",
  "expect",
  "forwarded",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
] as const;

/** Which field it is; `pseudo` for those that begin with a colon and are not known. */
export type FieldKind = (typeof KNOWN_NAMES)[number] | "pseudo" | "other";

const COLON = 0x3a;
const KNOWN: ReadonlyMap<string, FieldKind> = new Map(KNOWN_NAMES.map((name) => [name, name]));

/** The name of a field, with what is asked about it again and again. */
export class FieldName {
  readonly text: string;
  readonly kind: FieldKind;
  /** Whether it may stand in a message: lower case, and of the characters of names only. */
  readonly isValid: boolean;
  /** Where it stands first in the static table; 0 where it does not. */
  readonly staticIndex: number;

  constructor(text: string, staticIndex = 0) {
    this.text = text;
    this.staticIndex = staticIndex;
    this.kind = KNOWN.get(text) ?? (text.charCodeAt(0) === COLON ? "pseudo" : "other");
    this.isValid = this.kind !== "other" || isFieldName(text);
  }
}

function isFieldName(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isUpperCase = code >= 0x41 && code <= 0x5a;
    if (isUpperCase || !isOf(code, TOKEN)) return false;
  }
  return text.length > 0;
}
