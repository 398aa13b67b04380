import type { Log } from "../core/log.ts";
import type { ListenAddress } from "../core/options/listen-address.ts";
import { DEFAULT_KEEP_ALIVE, type KeepAliveOptions } from "../platform/http2/keep-alive.ts";
import type { ApiGate, IssuedTls } from "./api-gate.ts";

/** PEM files. Clients must show a certificate that one of `clientCaFile` signed. */
export interface ApiServerTls {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string;
}

export interface ApiServerOptions {
  readonly listen: ListenAddress;
  /** Undefined: no TLS. */
  readonly tls?: ApiServerTls | IssuedTls | undefined;
  /** Undefined: whoever comes in may watch everything. */
  readonly gate?: ApiGate | undefined;
  /** A longer request is refused. */
  readonly maxMessageBytes?: number;
  readonly maxConnections?: number;
  /** Calls at the same time, of all clients together. */
  readonly maxCalls?: number;
  /** What encoded messages take that are kept for other watchers. */
  readonly cacheBytes?: number;
  readonly keepAlive?: KeepAliveOptions;
  /** How long calls may take to end when the server closes. */
  readonly closeTimeoutMs?: number;
  readonly log?: Log | undefined;
}

/** The options with their defaults. */
export interface ApiServerSettings {
  readonly maxMessageBytes: number;
  readonly maxConnections: number;
  readonly maxCalls: number;
  readonly cacheBytes: number;
  readonly keepAlive: KeepAliveOptions;
  readonly closeTimeoutMs: number;
}

export function apiServerSettings(options: ApiServerOptions): ApiServerSettings {
  return {
    maxMessageBytes: options.maxMessageBytes ?? 4_194_304,
    maxConnections: options.maxConnections ?? 10_000,
    maxCalls: options.maxCalls ?? 20_000,
    cacheBytes: options.cacheBytes ?? 134_217_728,
    keepAlive: options.keepAlive ?? DEFAULT_KEEP_ALIVE,
    closeTimeoutMs: options.closeTimeoutMs ?? 2000,
  };
}
