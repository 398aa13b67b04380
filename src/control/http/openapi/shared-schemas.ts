import type { JsonSchema } from "./param-schema.ts";

const TEXT = { type: "string" } as const;

/** Schemas that are the same whatever the table holds. */
export const SHARED_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Refusal: {
    type: "object",
    required: ["code", "message", "problems"],
    properties: {
      code: { ...TEXT, description: "Public and stable; see docs/errors.md." },
      message: { ...TEXT, description: "For people." },
      problems: { type: "array", items: { $ref: "#/components/schemas/Problem" } },
      errId: { ...TEXT, description: "Under which the log has a fault of the instance." },
    },
  },
  Problem: {
    type: "object",
    required: ["path", "value", "expected"],
    properties: {
      path: { ...TEXT, description: "The field." },
      value: { ...TEXT, description: "What is there; secrets are hidden." },
      expected: { ...TEXT, description: "What would be right." },
    },
  },
  HealthEvent: {
    type: "object",
    required: ["serverGroup", "server", "address", "health", "reason"],
    properties: {
      serverGroup: TEXT,
      server: TEXT,
      address: TEXT,
      health: { ...TEXT, enum: ["up", "down"] },
      reason: TEXT,
    },
  },
  Value: {
    type: "object",
    required: ["value"],
    properties: { value: { type: "number", description: "Counted since it is there." } },
  },
  Contents: {
    type: "object",
    properties: {
      contains: {
        type: "object",
        description: "What is in it, by resource.",
        additionalProperties: { type: "array", items: { type: "object" } },
      },
    },
  },
  CommandLine: {
    type: "object",
    required: ["command"],
    additionalProperties: false,
    properties: { command: { ...TEXT, examples: ["list-detail tcp-lb"] } },
  },
  Result: {
    description: "What a command comes to, as all controllers have it.",
    oneOf: [
      resultOf("done", "note", TEXT),
      resultOf("names", "names", { type: "array", items: TEXT }),
      resultOf("records", "records", { type: "array", items: { type: "object" } }),
      resultOf("number", "value", { type: "number" }),
      resultOf("text", "text", TEXT),
    ],
  },
  PemUpload: {
    type: "object",
    required: ["certs", "key"],
    additionalProperties: false,
    properties: {
      name: { ...TEXT, description: "Needed where the path does not have it." },
      certs: {
        type: "array",
        minItems: 1,
        items: TEXT,
        description: "PEM texts, the certificate of the server first.",
      },
      key: { ...TEXT, writeOnly: true, description: "Private key without a passphrase, PEM." },
    },
  },
};

function resultOf(kind: string, field: string, schema: JsonSchema): JsonSchema {
  return {
    type: "object",
    required: ["kind", field],
    properties: { kind: { const: kind }, [field]: schema },
  };
}

export const SHARED_PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  IfMatch: {
    name: "If-Match",
    in: "header",
    description: "An ETag: done only where the state is still the one that had it.",
    schema: TEXT,
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "An ETag: answered with 304 where nothing has changed.",
    schema: TEXT,
  },
  Force: {
    name: "force",
    in: "query",
    description: "Whether it is removed though others use it (`force-remove`).",
    schema: { type: "boolean", default: false },
  },
};
