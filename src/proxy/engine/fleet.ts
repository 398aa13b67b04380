import type { LoopStats } from "../../net/loop-counters.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { EngineCommand, EngineReport } from "../loop/engine-messages.ts";

/** The loops of an engine: threads of their own, or one on this thread. */
export interface Fleet {
  /** Places for loops; the loop in a place may be replaced. */
  readonly size: number;
  /** False where there is no loop in the place now. */
  send(place: number, command: EngineCommand): boolean;
  stats(): readonly (LoopStats & { readonly name: string })[];
  /**
   * Has connections accepted there, on all loops; which listener they belong to, the loops know by
   * `socketIdOf`. Throws ERR_LISTEN, with the remedy, where the address can not be had.
   */
  listen(socketId: string, on: SocketAddress): Promise<OpenSocket>;
  /** Settles when nothing is open on any loop. */
  drain(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface OpenSocket {
  /** With the port that was found where any free one was wanted. */
  readonly address: SocketAddress;
  close(): Promise<void>;
}

export interface FleetEvents {
  onReport(place: number, report: EngineReport): void;
  /** The loop in that place has died. */
  onLost(place: number): void;
  /** What a loop must be told before it takes connections; for each that starts. */
  onStarted(place: number): Promise<void>;
}
