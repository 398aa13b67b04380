import { type Certificate, certificateSchema } from "../core/model/certificate.ts";
import type { ListenerTls } from "../core/model/listener.ts";
import { keyOf } from "../core/model/object.ts";
import type { ValuesOf } from "../core/options/option-spec.ts";
import type { LB_OPTIONS } from "./lb-options.ts";

/** What the load balancer needs for TLS. */
export interface LbTls {
  readonly certificates: readonly Certificate[];
  /** Undefined: plain. */
  readonly tls: ListenerTls | undefined;
}

/** @param problems gets what is wrong, in words */
export function lbTls(
  { tlsCert, tlsKey, tlsClientCa = "", protocol }: ValuesOf<typeof LB_OPTIONS>,
  problems: string[],
): LbTls {
  if (tlsKey.length !== tlsCert.length) {
    problems.push(
      `--tls-key: given ${tlsKey.length} times; expected as often as --tls-cert (${tlsCert.length})`,
    );
  }
  if (tlsClientCa !== "" && tlsCert.length === 0) {
    problems.push("--tls-client-ca: expected --tls-cert with it");
  }
  if (tlsCert.length > 0 && protocol === "udp") {
    problems.push('--protocol: "udp" is not valid with --tls-cert; expected tcp, http or h2');
  }
  const certificates = tlsCert.map((file, index) =>
    certificateSchema.parse({
      kind: "Certificate",
      name: `lb-${index + 1}`,
      certFiles: [file],
      // Where there is none for it that is told above.
      keyFile: tlsKey[index] ?? file,
    }),
  );
  if (certificates.length === 0) return { certificates, tls: undefined };
  return {
    certificates,
    tls: { certificates: certificates.map(keyOf), clientCaFile: tlsClientCa, peers: [] },
  };
}
