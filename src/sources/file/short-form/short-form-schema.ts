import * as z from "zod";
import { cidrSchema, ipSchema, nameSchema, protocolSchema } from "../../../core/model/common.ts";
import { inputSchemaOf, type JsonSchema } from "../../../core/model/json-schema.ts";
import { metadata, oneOrMany, portRangeField, referenceField, ruleTextField } from "./fields.ts";
import { groupSchema, serviceSchema } from "./service-schema.ts";
import type { ShortForm, ShortRule } from "./short-form.ts";

const node = z.strictObject({
  ...metadata,
  addresses: oneOrMany(ipSchema).optional(),
  zone: z.string().optional(),
  subnets: oneOrMany(cidrSchema).optional(),
  tunnel: z.strictObject({ address: z.string(), publicKey: z.string().optional() }).optional(),
  alive: z.boolean().optional(),
  leaving: z.string().optional(),
});

const certificate = z.strictObject({
  ...metadata,
  certFiles: oneOrMany(z.string().min(1)),
  keyFile: z.string().min(1),
  caFile: z.string().min(1).optional(),
});

const access = z.enum(["allow", "deny"]);

const ruleObject = z.strictObject({
  name: nameSchema.optional(),
  network: cidrSchema,
  protocol: protocolSchema.optional(),
  ports: portRangeField.optional(),
  access,
});

const rule: z.ZodType<ShortRule> = z.union([ruleTextField, ruleObject]);

const securityGroup = z.strictObject({
  ...metadata,
  default: access,
  rules: oneOrMany(rule).default([]),
});

function named<T>(schema: z.ZodType<T>, name: z.ZodType<string> = referenceField) {
  return z.record(name, schema).default({});
}

/** The whole of a state file in the short form. */
export const shortFormSchema: z.ZodType<ShortForm> = z.strictObject({
  version: z.literal(1),
  namespace: nameSchema.default("default"),
  services: named(serviceSchema),
  groups: named(groupSchema),
  nodes: named(node, nameSchema),
  certificates: named(certificate),
  securityGroups: named(securityGroup),
  objects: z.array(z.unknown()).default([]),
});

/** What is published as `schema/state-file.json`. */
export function shortFormJsonSchema(): JsonSchema {
  return inputSchemaOf(shortFormSchema, {
    $id: "urn:portolan:schema:state-file:1",
    title: "Portolan state file, version 1",
  });
}
