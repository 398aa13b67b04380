import { API_PREFIX } from "../resource-routes.ts";
import type { JsonSchema } from "./param-schema.ts";
import { jsonContent, jsonResponse, OF_CHANGES, OF_READS, ref, refusals } from "./responses.ts";

/** Parts of the API that only some controllers have. */
export interface OptionalParts {
  readonly status: boolean;
  readonly keepFile: boolean;
}

/** What is no resource of the table, by path and method. */
export function ownPaths(has: OptionalParts): Readonly<Record<string, JsonSchema>> {
  return {
    "/": { get: open("page", "A readable page of this API", "text/html") },
    "/healthz": { get: open("healthz", "Whether the controller answers", "text/plain") },
    [`${API_PREFIX}/openapi.json`]: {
      get: open("openapi", "This document", "application/json"),
    },
    [`${API_PREFIX}/module/all`]: { get: ALL },
    [`${API_PREFIX}/command`]: { post: COMMAND },
    [`${API_PREFIX}/watch/server-group/-/server/-/health-check`]: { get: WATCH },
    ...(has.status ? { [`${API_PREFIX}/status`]: { get: STATUS } } : {}),
    ...(has.keepFile
      ? {
          [`${API_PREFIX}/module/cert-key/pem`]: { post: PEM_ADD },
          [`${API_PREFIX}/module/cert-key/{cert-key}/pem`]: { put: PEM_UPDATE },
        }
      : {}),
  };
}

function open(operationId: string, summary: string, type: string): JsonSchema {
  return {
    operationId,
    tags: ["instance"],
    summary,
    security: [],
    responses: { "200": { description: "It.", content: { [type]: {} } } },
  };
}

const ALL: JsonSchema = {
  operationId: "listAll",
  tags: ["instance"],
  summary: "Every module with what is in it, by resource",
  parameters: [ref("parameters", "IfNoneMatch")],
  responses: {
    "200": {
      ...jsonResponse("Lists by the names of resources.", {
        type: "object",
        additionalProperties: { type: "array", items: ref("schemas", "Contents") },
      }),
      headers: { ETag: ref("headers", "ETag") },
    },
    "304": { description: "Nothing has changed since If-None-Match." },
    ...refusals(OF_READS),
  },
};

const COMMAND: JsonSchema = {
  operationId: "command",
  tags: ["instance"],
  summary: "Carries out a command as it is typed",
  requestBody: { required: true, content: jsonContent(ref("schemas", "CommandLine")) },
  responses: {
    "200": jsonResponse("What came of it.", ref("schemas", "Result")),
    ...refusals(OF_CHANGES),
  },
};

const WATCH: JsonSchema = {
  operationId: "watchHealth",
  tags: ["instance"],
  summary: "Changes of the health of servers, as server-sent events",
  description:
    "Events are called `health-check`; their data is a HealthEvent. A comment comes every 15 seconds.",
  responses: {
    "200": {
      description: "It goes on until one side closes it.",
      content: { "text/event-stream": { schema: ref("schemas", "HealthEvent") } },
    },
    ...refusals(OF_READS),
  },
};

const STATUS: JsonSchema = {
  operationId: "status",
  tags: ["instance"],
  summary: "What runs, and how well",
  responses: {
    "200": jsonResponse("As `portolan status --json` prints it.", { type: "object" }),
    ...refusals(OF_READS),
  },
};

const PEM_BODY = {
  requestBody: { required: true, content: jsonContent(ref("schemas", "PemUpload")) },
};

const PEM_ADD: JsonSchema = {
  operationId: "addCertKeyAsPem",
  tags: ["cert-key"],
  summary: "Adds a certificate and its key, sent as PEM text and kept in the state folder",
  parameters: [ref("parameters", "IfMatch")],
  ...PEM_BODY,
  responses: { "201": ref("responses", "Created"), ...refusals(OF_CHANGES) },
};

const PEM_UPDATE: JsonSchema = {
  operationId: "updateCertKeyAsPem",
  tags: ["cert-key"],
  summary: "Replaces a certificate and its key; listeners that use it take the new one",
  parameters: [ref("parameters", "name.cert-key"), ref("parameters", "IfMatch")],
  ...PEM_BODY,
  responses: {
    "200": ref("responses", "Noted"),
    "204": { description: "Done." },
    ...refusals(OF_CHANGES),
  },
};
