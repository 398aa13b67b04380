import { X509Certificate } from "node:crypto";
import type { Http2Session } from "node:http2";
import { TLSSocket } from "node:tls";

/** Who is at the other end of a connection. */
export type Caller =
  /** Somebody who may use the socket file. */
  | { readonly kind: "local" }
  /** Somebody with a certificate of the right authority. */
  | { readonly kind: "certified"; readonly certificate: X509Certificate }
  /** The same, but its time is over. */
  | { readonly kind: "overdue"; readonly certificate: X509Certificate }
  | { readonly kind: "stranger" };

/** Decides what each caller may do, and serves methods beside the watches. */
export interface ApiGate {
  /** By path: one request, one answer. What they throw is told to the caller. */
  readonly methods: ReadonlyMap<string, (caller: Caller, request: unknown) => Promise<object>>;
  /**
   * @param nodeName undefined: all of the state
   * @throws CoreError ERR_UNAUTHORIZED
   */
  assertMayWatch(caller: Caller, nodeName: string | undefined): void;
}

/** What a server shows that makes its own certificates. Clients may come without one: the gate decides. */
export interface IssuedTls {
  /** PEM: the certificate with that of its authority, its key, and the authority of clients. */
  readonly current: () => { readonly cert: string; readonly key: string; readonly ca: string };
  /** Told when there is another one. */
  readonly onRenewed: (listener: () => void) => void;
}

const STRANGER: Caller = { kind: "stranger" };

/** @param authority of clients, PEM; undefined where the server takes no certificate that is overdue */
export function callerOf(
  session: Http2Session,
  isUnix: boolean,
  authority: string | undefined,
): Caller {
  if (isUnix) return { kind: "local" };
  const { socket } = session;
  if (!(socket instanceof TLSSocket)) return STRANGER;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return STRANGER;
  if (socket.authorized) return { kind: "certified", certificate };
  const isOverdue =
    String(socket.authorizationError) === "CERT_HAS_EXPIRED" &&
    authority !== undefined &&
    isSignedBy(certificate, authority);
  return isOverdue ? { kind: "overdue", certificate } : STRANGER;
}

/** TLS tells one fault only: a certificate that is overdue may be forged as well. */
function isSignedBy(certificate: X509Certificate, authority: string): boolean {
  const issuer = new X509Certificate(authority);
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
