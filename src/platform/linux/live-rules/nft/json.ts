/** Reading JSON whose form is known from elsewhere, without trusting it. */
export type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The name and the content of an object that says what it is by its only key: `{ "dnat": ... }`. */
export function tagOf(value: unknown): { readonly tag: string; readonly body: unknown } {
  const [entry, ...others] = isObject(value) ? Object.entries(value) : [];
  if (entry === undefined || others.length > 0) return { tag: "", body: undefined };
  return { tag: entry[0], body: entry[1] };
}
