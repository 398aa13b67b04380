import { join } from "node:path";
import type { Certificate } from "../core/model/certificate.ts";
import { parseKind } from "../core/model/parse.ts";

/** Where an identity is kept: PEM files in a folder of their own. */
export interface IdentityFiles {
  readonly folder: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
}

export function identityFiles(folder: string): IdentityFiles {
  return {
    folder,
    certFile: join(folder, "identity.pem"),
    keyFile: join(folder, "identity-key.pem"),
    caFile: join(folder, "authority.pem"),
  };
}

/** The object by which listeners and groups name it. */
export function identityCertificate({ certFile, keyFile, caFile }: IdentityFiles): Certificate {
  return parseKind("Certificate", { name: "identity", certFiles: [certFile], keyFile, caFile });
}
