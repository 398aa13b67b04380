import * as z from "zod";
import { canonicalIp, isPort, parseCidr } from "./address.ts";

export type StringMap = Readonly<Record<string, string>>;

/** What every object carries. */
export interface Metadata {
  readonly namespace: string;
  readonly name: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

export type Protocol = "TCP" | "UDP" | "SCTP";

export const PROTOCOLS: readonly Protocol[] = ["TCP", "UDP", "SCTP"];

export const NO_STRINGS: StringMap = Object.freeze({});
/** Not frozen: to the engine a frozen array is of another kind, and all who read it pay for that. */
export const EMPTY: readonly never[] = [];

export const nameSchema: z.ZodType<string> = z
  .string()
  .regex(/^[^\s/]{1,253}$/, "a name of 1 to 253 characters without spaces and '/'");

export const keySchema: z.ZodType<string> = z
  .string()
  .regex(/^[^\s/]{1,253}\/[^\s/]{1,253}$/, "NAMESPACE/NAME");

const stringMapSchema = z.record(z.string(), z.string());

export const protocolSchema: z.ZodType<Protocol> = z.enum(["TCP", "UDP", "SCTP"]);

export const portSchema: z.ZodType<number> = z
  .number()
  .refine(isPort, "a whole number from 1 to 65535")
  .meta({ type: "integer", minimum: 1, maximum: 65_535 });

/** A port, or 0 where none is wanted. */
export const optionalPortSchema: z.ZodType<number> = z
  .number()
  .refine((port) => port === 0 || isPort(port), "a whole number from 1 to 65535, or 0 for none")
  .meta({ type: "integer", minimum: 0, maximum: 65_535 });

export const ipSchema: z.ZodType<string> = z
  .string()
  .transform((text, context) => {
    const ip = canonicalIp(text);
    if (ip !== undefined) return ip;
    context.addIssue({ code: "custom", message: "an IPv4 or IPv6 address" });
    return z.NEVER;
  })
  .meta({ description: "an IPv4 or IPv6 address" });

export const cidrSchema: z.ZodType<string> = z
  .string()
  .transform((text, context) => {
    const cidr = parseCidr(text);
    if (cidr !== undefined) return cidr.text;
    context.addIssue({ code: "custom", message: "a network such as 10.0.0.0/8 or fd00::/8" });
    return z.NEVER;
  })
  .meta({ description: "a network such as 10.0.0.0/8 or fd00::/8" });

/** The fields of `Metadata`, to be spread into the schema of an object. */
export const metadataFields: {
  readonly namespace: z.ZodType<string>;
  readonly name: z.ZodType<string>;
  readonly labels: z.ZodType<StringMap>;
  readonly annotations: z.ZodType<StringMap>;
} = {
  namespace: nameSchema.default("default"),
  name: nameSchema,
  labels: stringMapSchema.default(NO_STRINGS),
  annotations: stringMapSchema.default(NO_STRINGS),
};
