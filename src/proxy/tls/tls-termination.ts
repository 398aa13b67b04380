import type { CertificateConfig, ListenerConfig, TlsConfig } from "../engine-config.ts";
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

/** Puts TLS before entrances. Only loops that can do so have it. */
export interface TlsTermination {
  /**
   * An entrance whose clients make a handshake first; then `inner` has what they say inside TLS.
   * @throws CoreError where a certificate can not be used
   */
  secure(host: SessionHost, listener: SecuredListener, inner: Entrance): Entrance;
}
