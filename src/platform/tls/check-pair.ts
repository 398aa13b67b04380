import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { messageOf } from "../../core/errors.ts";

/** As the loops have it: keys that are too short to be of use are refused. */
const CIPHERS = "DEFAULT:@SECLEVEL=2";

/** Where the texts come from, for people. */
export interface PairNames {
  readonly certFiles: readonly string[];
  readonly keyFile: string;
}

/** What is wrong with a certificate and its key, as a statement that names the file; undefined: nothing. */
export function checkPair(cert: string, key: string, names: PairNames): string | undefined {
  const certName = names.certFiles.join(", ");
  const certificate = parsed(() => new X509Certificate(cert));
  if (certificate === undefined) return `${certName}: no certificate in PEM form`;
  const privateKey = parsed(() => createPrivateKey(key));
  if (privateKey === undefined) return `${names.keyFile}: ${keyProblem(key)}`;
  if (!belongsTo(certificate, privateKey)) {
    return `${names.keyFile}: the key does not belong to the certificate in ${certName}`;
  }
  const refusal = refusalOf(() => createSecureContext({ cert, key, ciphers: CIPHERS }));
  return refusal && `${certName}: ${refusal}`;
}

/** What is wrong with the authorities of clients; undefined: nothing. */
export function checkAuthorities(ca: string): string | undefined {
  if (parsed(() => new X509Certificate(ca)) === undefined) return "no certificate in PEM form";
  return refusalOf(() => createSecureContext({ ca }));
}

function keyProblem(key: string): string {
  return key.includes("ENCRYPTED")
    ? "the key has a passphrase; expected one without"
    : "no private key in PEM form";
}

/** Keys of different types can not even be compared. */
function belongsTo(certificate: X509Certificate, key: KeyObject): boolean {
  return parsed(() => certificate.checkPrivateKey(key)) ?? false;
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    // Its message speaks of decoders, not of files.
    return undefined;
  }
}

/** OpenSSL's words are enough for what is left: `ee key too small`. */
function refusalOf(use: () => unknown): string | undefined {
  try {
    use();
    return undefined;
  } catch (error) {
    const text = messageOf(error);
    return text.slice(text.lastIndexOf(":") + 1);
  }
}
