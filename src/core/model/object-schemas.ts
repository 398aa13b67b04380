import * as z from "zod";
import { certificateSchema } from "./certificate.ts";
import { endpointSchema } from "./endpoint.ts";
import { groupSchema } from "./group.ts";
import { inputSchemaOf, type JsonSchema } from "./json-schema.ts";
import { listenerSchema } from "./listener.ts";
import { nodeSchema } from "./node.ts";
import type { Kind, ObjectOf } from "./object.ts";
import { securityGroupSchema } from "./security-group.ts";
import { serviceSchema } from "./service.ts";

/** The schema of each kind: objects are checked with it, and it is published as JSON Schema. */
export const OBJECT_SCHEMAS: { readonly [K in Kind]: z.ZodType<ObjectOf<K>> } = {
  Service: serviceSchema,
  Listener: listenerSchema,
  Group: groupSchema,
  Endpoint: endpointSchema,
  Node: nodeSchema,
  SecurityGroup: securityGroupSchema,
  Certificate: certificateSchema,
};

/** What is published as `schema/object.json`: an object of any kind. */
export function objectJsonSchema(): JsonSchema {
  return inputSchemaOf(z.union(Object.values(OBJECT_SCHEMAS)), {
    $id: "urn:portolan:schema:object:1",
    title: "An object of Portolan's model, version 1",
  });
}
