import type { ResourceSpec } from "../../resource-spec.ts";
import { planResourceRoutes } from "../resource-routes.ts";
import { type OptionalParts, ownPaths } from "./own-paths.ts";
import type { JsonSchema } from "./param-schema.ts";
import { nameParameters, resourceOperation, resourceSchemas } from "./resource-paths.ts";
import { jsonResponse, refusalResponses } from "./responses.ts";
import { SHARED_PARAMETERS, SHARED_SCHEMAS } from "./shared-schemas.ts";

const API_VERSION = "1.0.0";
const DESCRIPTION =
  "Everything that commands can do, over HTTP. Paths, bodies and this document follow from the table of commands. Names of the default namespace are written without it; others as `namespace%2Fname`.";

/** The API as OpenAPI 3.1. */
export function openApiDocument(
  resources: readonly ResourceSpec[],
  has: OptionalParts,
): JsonSchema {
  const routes = planResourceRoutes(resources);
  const paths: Record<string, JsonSchema> = { ...ownPaths(has) };
  for (const route of routes) {
    const methods = paths[route.path] ?? {};
    paths[route.path] = { ...methods, [route.method.toLowerCase()]: resourceOperation(route) };
  }
  const shown = new Set(routes.map(({ resource }) => resource));
  return {
    openapi: "3.1.0",
    info: {
      title: "Portolan",
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    tags: [
      { name: "instance", description: "The instance as a whole" },
      ...[...shown].map(({ name, summary }) => ({ name, description: summary })),
    ],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      parameters: { ...SHARED_PARAMETERS, ...Object.fromEntries(routes.flatMap(nameParameters)) },
      headers: {
        ETag: { description: "Of the state and what was read of it.", schema: { type: "string" } },
      },
      responses: { ...SHARED_RESPONSES, ...refusalResponses() },
      schemas: { ...SHARED_SCHEMAS, ...Object.fromEntries(routes.flatMap(resourceSchemas)) },
    },
  };
}

const NOTE = { type: "string", description: "What is still under way, for people." };
const SHARED_RESPONSES: JsonSchema = {
  Created: {
    ...jsonResponse("It is there.", {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, note: NOTE },
    }),
    headers: {
      Location: {
        description: "Where it is.",
        schema: { type: "string", format: "uri-reference" },
      },
    },
  },
  Noted: jsonResponse("Done, with something to say.", {
    type: "object",
    required: ["note"],
    properties: { note: NOTE },
  }),
};
