import { formatSocketAddress } from "../../platform/socket-address.ts";
import { websocksSecret } from "../../wire/websocks/websocks-token.ts";
import type { WebsocksAgentConfig } from "../engine-config.ts";
import type { DialTarget } from "../relay/dial-targets.ts";
import type { SessionHost } from "../relay/session-host.ts";
import type { TlsCaller } from "../tls/tls-termination.ts";
import { TunnelPool } from "./tunnel-pool.ts";
import { TunnelServer } from "./tunnel-server.ts";

export interface TunnelsOptions {
  readonly config: WebsocksAgentConfig;
  /** Needed where a server has TLS. */
  readonly caller: TlsCaller | undefined;
  /** The time of day: tokens go by it. */
  readonly nowMs: () => number;
  readonly listener: string;
  /** For a connection to a server, all of its handshakes included. */
  readonly linkTimeoutMs: number;
  readonly bufferBytes: number;
}

/** The same trouble with a server is told again after so long. */
const TOLD_EVERY_MS = 10_000;

/** The servers of an agent in one loop: how each is called, and what is kept ready. */
export class Tunnels {
  readonly host: SessionHost;
  readonly options: TunnelsOptions;
  readonly #servers: ReadonlyMap<string, TunnelServer>;
  readonly #pools = new Map<string, TunnelPool>();
  readonly #toldMs = new Map<string, number>();
  #isClosed = false;

  constructor(host: SessionHost, options: TunnelsOptions) {
    this.host = host;
    this.options = options;
    const { config, caller, nowMs } = options;
    const secret = websocksSecret(config.password);
    this.#servers = new Map(
      [...config.servers].map(([name, url]) => [
        name,
        new TunnelServer(url, secret, url.isSecure ? caller : undefined, nowMs),
      ]),
    );
  }

  /** No connection may be begun any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Undefined where it is not said how it is called. */
  serverOf({ key }: Pick<DialTarget, "key">): TunnelServer | undefined {
    return this.#servers.get(key.slice(key.lastIndexOf("/") + 1));
  }

  poolOf(target: DialTarget, server: TunnelServer): TunnelPool | undefined {
    const { config, linkTimeoutMs, bufferBytes, listener } = this.options;
    const size = config.poolSize;
    if (size === 0) return undefined;
    const key = `${target.key} ${formatSocketAddress(target.address)}`;
    const known = this.#pools.get(key);
    if (known?.target === target) return known;
    // The server has left and come back: what is kept was counted for the one before.
    known?.close();
    const parts = { target, server, size, timeoutMs: linkTimeoutMs, bufferBytes, listener };
    const pool = new TunnelPool(this.host.net, parts);
    this.#pools.set(key, pool);
    return pool;
  }

  /** Tells the people who run it what is wrong with a server. */
  noteFailure({ key }: DialTarget, reason: string): void {
    const { loop } = this.host.net;
    const told = this.#toldMs.get(key) ?? Number.NEGATIVE_INFINITY;
    if (loop.nowMs - told < TOLD_EVERY_MS) return;
    this.#toldMs.set(key, loop.nowMs);
    const { listener } = this.options;
    this.host.log.warn({ listener, server: key, reason }, "a server gives no tunnel");
  }

  close(): void {
    this.#isClosed = true;
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
    this.options.caller?.close();
  }
}
