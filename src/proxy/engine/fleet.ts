import type { Transport } from "../../net/listeners/socket-lending.ts";
import type { ChannelEntry, ChannelId } from "../../net/selector-event-loop.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { LoopFigures } from "../engine-stats.ts";
import type { EngineCommand, EngineReport } from "../loop/engine-messages.ts";
import type { ChannelHome } from "./channel-list.ts";

/** The group that is there from the start; for all that names no other. */
export const DEFAULT_GROUP = "worker";

/** The loops of an engine: threads of their own, or one on this thread. */
export interface Fleet {
  /** The places that a loop is in now. A loop that has ended leaves its place to another. */
  places(): readonly number[];
  /** False where there is no loop in the place now. */
  send(place: number, command: EngineCommand): boolean;
  /** All groups with the loops that are in them; loops that are being ended are in none. */
  groups(): readonly FleetGroup[];
  stats(): readonly LoopFigures[];
  addGroup(name: string): void;
  /** Forgets a group that nothing listens on; its loops were retired before. */
  dropGroup(name: string): Promise<void>;
  /** All loops that run, also those that are being ended. */
  loops(): readonly RunningLoop[];
  /** Starts a loop in a group; settles with its name when it serves. @param name undefined: any. */
  addLoop(group: string, name: string | undefined): Promise<string>;
  /** Takes a loop out of its group: it accepts no more, and goes on with what it has. */
  retireLoop(name: string): Promise<void>;
  /** Ends a loop that was retired; what is open in it may end by itself before. */
  endLoop(name: string, drainTimeoutMs: number): Promise<void>;
  /** Lets the loops of one group hand connections to those of another. */
  link(pairs: readonly GroupPair[]): void;
  /** A CPU profile of a loop, as `.cpuprofile` holds it. */
  profile(name: string, durationMs: number): Promise<string>;
  /**
   * Opens a socket, and has the loops of a group serve it; which listener it belongs to, the loops know
   * by `socketsOf`. Throws ERR_LISTEN, with the remedy, where the address can not be had.
   */
  listen(socket: SocketWish, group: string): Promise<OpenSocket>;
  /** Closes what another process gave and nobody listens on. */
  closeUnclaimed(): void;
  /** Settles when nothing is open on any loop. */
  drain(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface FleetGroup {
  readonly name: string;
  readonly loops: readonly FleetLoop[];
}

export interface FleetLoop {
  readonly name: string;
  readonly place: number;
  /** Rejects where it has ended. */
  channels(): Promise<readonly ChannelEntry[]>;
}

/** A loop as long as it runs; the one that takes its place is another. */
export interface RunningLoop extends ChannelHome {
  /** Rejects where it has ended. */
  channels(): Promise<readonly ChannelEntry[]>;
  /** Has a channel closed. Rejects where it is not there any more, or the loop has ended. */
  dismiss(id: ChannelId): Promise<void>;
}

/** Who accepts, and who serves what was accepted. */
export interface GroupPair {
  readonly from: string;
  readonly to: string;
}

export interface SocketWish {
  readonly id: string;
  readonly transport: Transport;
  readonly address: SocketAddress;
}

export interface OpenSocket {
  /** With the port that was found where any free one was wanted. */
  readonly address: SocketAddress;
  /** For another process to take over; none where the provider can not. */
  descriptors(): readonly number[];
  /** Has the loops of another group serve it; nothing that waits in it is lost. */
  moveTo(group: string): Promise<void>;
  /** Another process serves it from now on. */
  release(): Promise<void>;
  close(): Promise<void>;
}

export interface FleetEvents {
  onReport(place: number, report: EngineReport): void;
  /** The loop in that place has ended, or died. */
  onLost(place: number): void;
  /** What a loop must be told before it takes connections; for each that starts. */
  onStarted(place: number): Promise<void>;
  /** It is in its group now. */
  onJoined(): Promise<void>;
}
