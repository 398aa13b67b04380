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
  "401": ["Unauthorized", "The token is missing or wrong."],
  "403": [
    "Forbidden",
    "Not allowed here: a system command, a page of another site, a strange host name.",
  ],
  "404": ["NotFound", "There is no such thing."],
  "409": ["Conflict", "The name or address is taken, it is in use, or another source owns it."],
  "412": ["Changed", "The state is no longer the one that If-Match names."],
  "413": ["TooLarge", "The body is too large."],
  "415": ["NotJson", "The body is not application/json."],
  "500": ["Fault", "The instance failed; the log has it under the errId."],
  "501": ["NotPossible", "This instance can not do it: it has no proxy of its own."],
  "503": ["Busy", "A limit is reached, or what was changed could not be kept; try again."],
} as const;

export type RefusalStatus = keyof typeof REFUSALS;

const ALWAYS: readonly RefusalStatus[] = ["401", "403", "500", "503"];
export const OF_READS: readonly RefusalStatus[] = [...ALWAYS, "404", "501"];
export const OF_REMOVALS: readonly RefusalStatus[] = [...OF_READS, "400", "409", "412"];
export const OF_CHANGES: readonly RefusalStatus[] = [...OF_REMOVALS, "413", "415"];

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
