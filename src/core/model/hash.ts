import { xxh64 } from "./xxh64.ts";

/** JSON with sorted keys and without undefined fields: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sortKeys) ?? "null";
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The same 16 hexadecimal digits for equal values, on every machine: XXH64 of the canonical JSON. */
export function canonicalHash(value: unknown): string {
  return hashText(canonicalJson(value));
}

/** XXH64 of a text's UTF-8 bytes, as 16 hexadecimal digits. */
export function hashText(text: string): string {
  return xxh64(new TextEncoder().encode(text)).toString(16).padStart(16, "0");
}
