import type { HostSelector } from "../host-selector.ts";
import type { Region } from "../region.ts";
import type { Timer } from "../timer-queue.ts";
import type { KcpCounters } from "./kcp-counters.ts";
import type { KcpOptions } from "./kcp-options.ts";

/** Something that has bytes to send at the end of a round. */
export interface Flushable {
  flush(): void;
}

/** What the tunnels and sockets of one loop share. */
export interface KcpHost {
  readonly options: KcpOptions;
  readonly counters: KcpCounters;
  /** Where streams report what they are ready for. */
  readonly selector: HostSelector;
  /** Memory for the datagram that is being made, and for the one that is being read. */
  readonly outgoing: Region;
  readonly outgoingView: DataView;
  readonly incoming: Region;
  readonly incomingView: DataView;
  nowMs(): number;
  arm(timer: Timer, atMs: number): void;
  disarm(timer: Timer): void;
  /** It is flushed before the loop waits again. */
  markDirty(what: Flushable): void;
}
