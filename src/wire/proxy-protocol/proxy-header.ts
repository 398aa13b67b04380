/** One end of a connection. */
export interface ProxyEnd {
  /** Canonical IP address. */
  readonly ip: string;
  readonly port: number;
}

/** The connection that a proxy speaks for. Both ends are of one family. */
export interface ProxiedConnection {
  readonly transport: "TCP" | "UDP";
  readonly source: ProxyEnd;
  readonly destination: ProxyEnd;
}

/** What the first bytes of a connection from a proxy say. */
export type ProxyHeader =
  | { readonly kind: "more" }
  /** They are something else. Whoever must send a header and does not is to be refused. */
  | { readonly kind: "absent" }
  | { readonly kind: "malformed"; readonly reason: string }
  | {
      readonly kind: "header";
      readonly version: 1 | 2;
      /** After it the bytes of the connection itself begin. */
      readonly end: number;
      /** Undefined: the proxy speaks for itself, or does not know; the real ends count. */
      readonly connection: ProxiedConnection | undefined;
    };

export const MORE: ProxyHeader = Object.freeze({ kind: "more" });
export const ABSENT: ProxyHeader = Object.freeze({ kind: "absent" });

export function malformed(reason: string): ProxyHeader {
  return { kind: "malformed", reason: `PROXY header: ${reason}` };
}
