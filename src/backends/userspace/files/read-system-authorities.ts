import { readFile } from "node:fs/promises";
import { rootCertificates } from "node:tls";

/** Where systems have the authorities that they trust, in one PEM file. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
] as const;

/** PEM text of the authorities that this system trusts; those that come with Node where it has none. */
export async function readSystemAuthorities(): Promise<string> {
  const { SSL_CERT_FILE: chosen = "" } = process.env;
  for (const path of [chosen, ...BUNDLES]) {
    const text = await readFile(path, "utf8").catch(() => "");
    if (text.includes("BEGIN CERTIFICATE")) return text;
  }
  return rootCertificates.join("\n");
}
