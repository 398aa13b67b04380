import xxhash from "xxhash-wasm";

const { create64, h64Raw, h64ToString } = await xxhash();

const HASH_DIGITS = 16;

/** XXH64 with seed 0. */
export function hashBytes(bytes: Uint8Array): bigint {
  return h64Raw(bytes);
}

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
  return h64ToString(text);
}

/** `hashText` of a text that comes in pieces. */
export class TextHash {
  readonly #hash = create64();

  /** @param piece whole characters: never half of a surrogate pair */
  update(piece: string): void {
    this.#hash.update(piece);
  }

  digest(): string {
    return this.#hash.digest().toString(16).padStart(HASH_DIGITS, "0");
  }
}
