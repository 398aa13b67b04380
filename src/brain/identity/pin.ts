import { createHash } from "node:crypto";

/** What a join token knows an authority by. */
export function pinOf(certificate: Buffer): string {
  return createHash("sha256").update(certificate).digest("base64url");
}
