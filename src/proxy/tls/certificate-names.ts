import { X509Certificate } from "node:crypto";

/** What a certificate is good for. */
export interface CertificateNames {
  /** Host names in lower case, `a.example` or `*.example`. */
  readonly names: readonly string[];
  /** `rsa`, `ec`: a listener can have one of each for the same name. */
  readonly keyType: string;
}

/** @throws where the text holds no certificate */
export function certificateNames(certPem: string): CertificateNames {
  const certificate = new X509Certificate(certPem);
  return {
    names: namesOf(certificate),
    keyType: certificate.publicKey.asymmetricKeyType ?? "unknown",
  };
}

/** RFC 6125: the common name counts only where there are no alternative names. */
function namesOf({ subjectAltName, subject }: X509Certificate): readonly string[] {
  const alternatives = (subjectAltName ?? "")
    .split(", ")
    .filter((entry) => entry.startsWith("DNS:"))
    .map((entry) => entry.slice("DNS:".length).toLowerCase());
  if (subjectAltName !== undefined) return alternatives;
  const [, commonName] = /^CN=(.*)$/m.exec(subject ?? "") ?? [];
  return commonName === undefined ? [] : [commonName.toLowerCase()];
}
