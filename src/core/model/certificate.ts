import * as z from "zod";
import { type Metadata, metadataFields } from "./common.ts";

/** A certificate and its key, both by reference: the bytes never enter the store or the API. */
export interface Certificate extends Metadata {
  readonly kind: "Certificate";
  /** PEM files: the certificate, then the chain. */
  readonly certFiles: readonly string[];
  readonly keyFile: string;
  /** PEM file of the authorities that the certificates of peers come from; empty: none that all who use it share. */
  readonly caFile: string;
}

export const certificateSchema: z.ZodType<Certificate> = z.strictObject({
  kind: z.literal("Certificate"),
  ...metadataFields,
  certFiles: z.array(z.string().min(1)).min(1),
  keyFile: z.string().min(1),
  caFile: z.string().default(""),
});
