import type { JsonSchema } from "./param-schema.ts";

export function ref(section: string, name: string): JsonSchema {
  return { $ref: `#/components/${section}/${name}` };
}

export function jsonContent(schema: JsonSchema): JsonSchema {
  return { "application/json": { schema } };
}

export function jsonResponse(description: string, schema: JsonSchema): JsonSchema {
  return { description, content: jsonContent(schema) };
}

const REFUSALS = {
  "400": ["Invalid", "Something in the request is not valid; all of it is listed."],
  "404": ["NotFound", "There is no such thing."],
  "409": ["Conflict", "The name or address is taken, it is in use, or another source owns it."],
  "412": ["Changed", "The state is no longer the one that If-Match names."],
  default: [
    "Refused",
    "401: the token is missing or wrong. 403: a system command, a page of another site, a strange host name. 413: the body is too large. 415: it is not application/json. 429: too many requests without the right token. 500: the instance failed, and its log has more under the errId. 501: this instance can not do it. 503: a limit is reached, or what was changed could not be kept.",
  ],
} as const;

export type RefusalStatus = keyof typeof REFUSALS;

export const OF_READS: readonly RefusalStatus[] = ["404", "default"];
export const OF_CHANGES: readonly RefusalStatus[] = ["400", "404", "409", "412", "default"];

export function refusals(statuses: readonly RefusalStatus[]): JsonSchema {
  return Object.fromEntries(
    statuses.map((status) => [status, ref("responses", REFUSALS[status][0])]),
  );
}

/** Shared answers, by their names. */
export function refusalResponses(): JsonSchema {
  return Object.fromEntries(
    Object.values(REFUSALS).map(([name, description]) => [
      name,
      jsonResponse(description, ref("schemas", "Refusal")),
    ]),
  );
}
