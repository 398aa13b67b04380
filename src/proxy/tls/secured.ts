import type { StreamFd } from "../../net/fd.ts";

/** What a TLS handshake has settled; both are empty before it is over, and where the client named none. */
export interface Secured {
  /** The protocol chosen by ALPN: `h2`, `http/1.1`. */
  readonly alpn: string;
  /** The host that the client asked for (SNI), in lower case. */
  readonly serverName: string;
}

/** Whether a stream is one of TLS. */
export function isSecured(fd: StreamFd): fd is StreamFd & Secured {
  return "alpn" in fd && "serverName" in fd;
}
