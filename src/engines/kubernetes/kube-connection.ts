import type { CredentialSource } from "./credentials.ts";

/** PEM text, or the file that it is read from anew for each request, so that a renewed one is taken up. */
export type Pem =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "file"; readonly path: string };

/** Where a cluster's API is and how it is spoken to. */
export interface KubeConnection {
  /** For people: `context prod`, `the service account of this pod`. */
  readonly name: string;
  /** At least one; they serve the same cluster and are taken in turn where one fails. */
  readonly servers: readonly URL[];
  /** The authorities that a server's certificate must come from; undefined: those of the system. */
  readonly ca: Pem | undefined;
  /** The name that the certificate must have; undefined: that of the server. */
  readonly serverName: string | undefined;
  /** Whether a certificate of anybody will do. */
  readonly isInsecure: boolean;
  readonly credentials: CredentialSource;
}
