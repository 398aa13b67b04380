import type { FastLevel } from "../../wire/kcp/kcp-mode.ts";
import { DEFAULT_FAST_LEVEL } from "../../wire/kcp/kcp-mode.ts";
import { type CreateSealer, createNodeSealer } from "./sealer.ts";
import type { TunnelCounters } from "./tunnel-counters.ts";

/** What both ends of tunnels have to agree on is the key alone. */
export interface KcpOptions {
  /** 32 bytes; see `tunnelKeyOf`. */
  readonly key: Uint8Array;
  readonly fast: FastLevel;
  /** What a datagram holds at most; the path must pass it whole. */
  readonly datagramBytes: number;
  /** Segments that may be on their way in each direction. */
  readonly windowSegments: number;
  /** What the streams of a tunnel may hold together for readers that wait, beyond a little for each. */
  readonly tunnelWindowBytes: number;
  /** What a tunnel holds; a client that needs more makes another tunnel. */
  readonly maxStreams: number;
  /** How long a handshake is tried. */
  readonly handshakeTimeoutMs: number;
  /** After so long without a word one asks whether the other end is there. */
  readonly clientKeepAliveMs: number;
  readonly serverKeepAliveMs: number;
  /** An end that answers nothing for so long is gone. */
  readonly deadAfterMs: number;
  /** A client's tunnel without streams is closed after so long. */
  readonly idleTimeoutMs: number;
  readonly createSealer: CreateSealer;
  /** Where others read what the tunnels do. */
  readonly counters?: TunnelCounters | undefined;
}

/** What people say about tunnels. */
export type TunnelSettings = Pick<KcpOptions, "key" | "fast">;

export const KCP_DEFAULTS: Omit<KcpOptions, "key"> = {
  fast: DEFAULT_FAST_LEVEL,
  datagramBytes: 1400,
  windowSegments: 4096,
  tunnelWindowBytes: 33_554_432,
  maxStreams: 16_384,
  handshakeTimeoutMs: 4_000,
  clientKeepAliveMs: 10_000,
  serverKeepAliveMs: 30_000,
  deadAfterMs: 10_000,
  idleTimeoutMs: 60_000,
  createSealer: createNodeSealer,
};
