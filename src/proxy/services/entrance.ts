import type { DatagramFd, StreamFd } from "../../net/fd.ts";
import type { DnsCacheEntry } from "../dns/dns-cache.ts";
import type { CertificateConfig, ListenerConfig } from "../engine-config.ts";
import type { ServerTalk } from "../health/server-talk.ts";
import type { CounterRow } from "../stats/counter-row.ts";

/** Where clients come in: one listener in one loop. */
export interface Entrance {
  /** Takes a connection; entrances for datagrams have none. */
  accept(fd: StreamFd): void;
  /**
   * Entrances for datagrams: a socket of the listener, to be received from and answered through until
   * `removeFront`. Whoever gave it closes it.
   */
  addFront?(fd: DatagramFd): void;
  removeFront?(fd: DatagramFd): void;
  /**
   * From now on: for who comes in, and for requests that are still to come. What is under way keeps what
   * it began with. False where only a new one can do that.
   */
  change(
    config: ListenerConfig,
    row: CounterRow,
    certificates: readonly CertificateConfig[],
  ): boolean;
  /** How it speaks to a server of a group by itself; undefined where it does not, or has no such group. */
  talkTo?(group: string, server: string): ServerTalk | undefined;
  /** The answers of resolvers that it keeps. */
  cacheEntries?(): readonly DnsCacheEntry[];
  /** Forgets those to questions for a name, in lower case; false where there are none. */
  dropCached?(name: string): boolean;
  /** Nobody comes in any more; what is open goes on. */
  close(): void;
}
