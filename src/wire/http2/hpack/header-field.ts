import { BLANK, isOf, TEXT } from "../../http1/characters.ts";
import type { FieldName } from "./field-name.ts";

/** What RFC 7541 section 4.1 adds for each field. */
const OVERHEAD_BYTES = 32;

/** A field of a message. It may be in a table and in many messages at once. Texts are Latin-1. */
export class HeaderField {
  readonly name: FieldName;
  readonly value: string;
  /** Whether it may stand in a message (RFC 9113 section 8.2.1). */
  readonly isValid: boolean;
  /** Whether it must never be put into a table, here and at all further hops. */
  readonly isSecret: boolean;
  /** Where the static table has just this name and value; 0 where it does not. */
  readonly staticIndex: number;

  constructor(
    name: FieldName,
    value: string,
    { isSecret = false, staticIndex = 0 }: { isSecret?: boolean; staticIndex?: number } = {},
  ) {
    this.name = name;
    this.value = value;
    this.isSecret = isSecret;
    this.staticIndex = staticIndex;
    this.isValid = name.isValid && isFieldValue(value);
  }

  /** As tables and limits count it. */
  get size(): number {
    return this.name.text.length + this.value.length + OVERHEAD_BYTES;
  }
}

/** No control characters, and no white space around it. */
function isFieldValue(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!isOf(text.charCodeAt(at), TEXT)) return false;
  const isPadded = isOf(text.charCodeAt(0), BLANK) || isOf(text.charCodeAt(text.length - 1), BLANK);
  return text === "" || !isPadded;
}
