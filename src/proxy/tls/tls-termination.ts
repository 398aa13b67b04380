import type { StreamFd } from "../../net/fd.ts";
import type {
  CertificateConfig,
  DialTlsConfig,
  ListenerConfig,
  TlsConfig,
} from "../engine-config.ts";
import type { SessionHost } from "../relay/session-host.ts";
import type { Entrance } from "../services/entrance.ts";
import type { CounterRow } from "../stats/counter-row.ts";

/** A listener whose clients speak TLS. */
export interface SecuredListener {
  readonly config: ListenerConfig;
  readonly tls: TlsConfig;
  readonly row: CounterRow;
  /** Those that `tls` names, in its order. */
  readonly certificates: readonly CertificateConfig[];
}

/** Makes streams of TLS to servers whose certificates are from some authorities. */
export interface TlsCaller {
  /** @param raw the connection that it is to be spoken on, which belongs to the stream from now on */
  secure(raw: StreamFd, host: string): StreamFd & { readonly problem: string };
  close(): void;
}

/** Speaks TLS with the servers of a group. */
export interface TlsDialer {
  /**
   * A connection that is being made, within TLS: it stands when the handshake is over and the server is one of
   * those that it may be.
   * @param server its key, for who is told
   */
  wrap(fd: StreamFd, server: string): StreamFd;
  /** Connections go on. */
  close(): void;
}

/** Puts TLS before entrances, and on connections to servers. Only loops that can do so have it. */
export interface TlsTermination {
  /**
   * An entrance whose clients make a handshake first; then `inner` has what they say inside TLS.
   * @throws CoreError where a certificate can not be used
   */
  secure(host: SessionHost, listener: SecuredListener, inner: Entrance): Entrance;
  /** @throws CoreError where there is no authority in it that can be used */
  createCaller(caPem: string): TlsCaller;
  /** @throws CoreError where the certificate can not be used */
  dialer(host: SessionHost, config: DialTlsConfig, group: string): TlsDialer;
}
