import { createHash } from "node:crypto";

const GUID = /^\{?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\}?$/i;

/** "portol" in ASCII: the first 48 bits of every id that Portolan gives. */
const MARK = "706f7274-6f6c-8";

/** The one spelling of a GUID: lower case, without braces; undefined where `text` is none. */
export function canonicalGuid(text: string): string | undefined {
  return GUID.exec(text)?.[1]?.toLowerCase();
}

/**
 * An id that is always the same for the same name, and that can be told from what others gave: a GUID of
 * version 8 (RFC 9562), with our mark and 74 bits of a hash.
 */
export function ownGuid(name: string): string {
  const hash = createHash("sha256").update(name).digest("hex");
  const variant = "89ab"[Number.parseInt(hash.slice(3, 4), 16) % 4] ?? "8";
  return `${MARK}${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}

/** Whether Portolan gave that id, in this run or an earlier one. */
export function isOwnGuid(guid: string): boolean {
  return guid.startsWith(MARK);
}
