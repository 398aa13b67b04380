import * as z from "zod";
import {
  cidrSchema,
  type Metadata,
  metadataFields,
  type Protocol,
  portSchema,
  protocolSchema,
} from "./common.ts";

export type Access = "allow" | "deny";

export interface SecurityRule {
  readonly name: string;
  /** Where clients come from. */
  readonly network: string;
  readonly protocol: Protocol | "any";
  /** Of the listening port, both ends included. */
  readonly minPort: number;
  readonly maxPort: number;
  readonly access: Access;
}

/** Who may call a listener: the longest matching network decides, then `defaultAccess`. */
export interface SecurityGroup extends Metadata {
  readonly kind: "SecurityGroup";
  readonly defaultAccess: Access;
  readonly rules: readonly SecurityRule[];
}

const accessSchema = z.enum(["allow", "deny"]);

export const securityGroupSchema: z.ZodType<SecurityGroup> = z.strictObject({
  kind: z.literal("SecurityGroup"),
  ...metadataFields,
  defaultAccess: accessSchema,
  rules: z
    .array(
      z
        .strictObject({
          name: metadataFields.name,
          network: cidrSchema,
          protocol: z.union([protocolSchema, z.literal("any")]).default("any"),
          minPort: portSchema.default(1),
          maxPort: portSchema.default(65_535),
          access: accessSchema,
        })
        .refine((rule) => rule.minPort <= rule.maxPort, {
          path: ["maxPort"],
          message: "a port that is not below minPort",
        }),
    )
    .default([]),
});
