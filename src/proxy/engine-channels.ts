import type { ChannelEnds } from "../net/selector-event-loop.ts";
import type { SocketAddress } from "../platform/socket-address.ts";

/** A socket, connection or session of an engine, as it was when asked. */
export interface EngineChannel {
  /** Means this one only, never another one later. */
  readonly id: string;
  readonly kind: "server-sock" | "connection" | "session";
  readonly loop: string;
  readonly loopGroup: string;
  /** Key of the listener that it belongs to; empty where it is of none. */
  readonly listener: string;
  /** Key of the server at its other end; empty where there is none (yet). */
  readonly server: string;
  /** Of a session: where its client has called. */
  readonly local: SocketAddress;
  /** Of a session: its client. */
  readonly remote: SocketAddress | undefined;
  /** Of a session: the connection to its server; undefined where there is none (yet). */
  readonly toServer: ChannelEnds | undefined;
  /** What came from its other end; of a socket, from all clients of its listener in this loop. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Of a socket: how many connections came by it. */
  readonly accepted: number;
}

/** What is open in the loops of an engine. */
export interface EngineChannels {
  /** Of all loops, also of those that are being ended. */
  list(): Promise<readonly EngineChannel[]>;
  /**
   * Closes a connection with its session, or a session with its connections; false where it is gone.
   * @throws CoreError ERR_IN_USE for listening sockets, which go with their listener
   */
  close(id: string): Promise<boolean>;
}
