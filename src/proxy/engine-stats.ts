import type { TunnelStats } from "../net/kcp/tunnel-counters.ts";
import type { LoopStats } from "../net/loop-counters.ts";
import type { SocketAddress } from "../platform/socket-address.ts";
import type { Health } from "./health/health-state.ts";
import type { CheckCounts, TrafficCounts } from "./stats/counter-row.ts";
import type { LatencyHistogram } from "./stats/latency-buckets.ts";

export interface ListenerStats extends TrafficCounts {
  readonly key: string;
  /** Where it listens; with the port that the system chose where 0 was wanted. */
  readonly address: SocketAddress;
}

/** What was counted of a server, and how it is. */
export interface ServerCounts extends TrafficCounts {
  /** Up where one of its addresses is. */
  readonly health: Health;
  /** Why it is not up; empty while it is. */
  readonly reason: string;
  readonly checks: CheckCounts;
  /** How long it took to connect, or with HTTP until the answer began. */
  readonly latency: LatencyHistogram;
}

export interface ServerStats extends ServerCounts {
  readonly key: string;
  readonly host: string;
  readonly port: number;
}

export interface GroupStats extends TrafficCounts {
  readonly key: string;
  readonly servers: readonly ServerStats[];
}

/** What a loop did so far. */
export interface LoopFigures extends LoopStats {
  readonly name: string;
  /** Undefined where nothing is reached by KCP. */
  readonly tunnels?: TunnelStats | undefined;
}

/** What an engine did so far, and does now. */
export interface EngineStats {
  readonly loops: readonly LoopFigures[];
  readonly listeners: readonly ListenerStats[];
  readonly groups: readonly GroupStats[];
}
