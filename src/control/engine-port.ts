import type { SocketAddress } from "../platform/socket-address.ts";

/** A socket, connection or session of the engine, as it was when asked. */
export interface EngineChannel {
  /** Means this one only, never another one later. */
  readonly id: string;
  readonly kind: "server-sock" | "connection" | "session";
  readonly loop: string;
  readonly loopGroup: string;
  /** Key of the Listener that it belongs to; empty where it is of none. */
  readonly listener: string;
  /** Key of the Endpoint at its other end; empty where there is none (yet). */
  readonly server: string;
  readonly local: SocketAddress;
  readonly remote: SocketAddress | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** What was counted of a listener or a server since it is there. */
export interface TrafficTotals {
  readonly connections: number;
  readonly totalConnections: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly failures: number;
}

export interface ServerState extends TrafficTotals {
  /** Key of the Endpoint. */
  readonly server: string;
  /** Where it is called: `10.0.0.1:80`. */
  readonly address: string;
  /** `unused`: nothing leads to it, so nobody checks it. */
  readonly health: "up" | "down" | "unknown" | "unused";
  readonly reason: string;
  /** Mean time to connect, in milliseconds; undefined where it was not called yet. */
  readonly meanLatencyMs: number | undefined;
}

/** What is remembered of names that were asked for. */
export interface DnsCacheEntry {
  /** Key of the Listener, or `resolver` for names of servers. */
  readonly holder: string;
  readonly name: string;
  readonly addresses: readonly string[];
  readonly expiresInMs: number | undefined;
}

export interface LoopGroupState {
  readonly name: string;
  readonly loops: readonly string[];
  /** Whether it is there from the start, and stays. */
  readonly isDefault: boolean;
}

/** The userspace data plane, as commands see it: by the keys of the model. */
export interface EnginePort {
  loopGroups(): readonly LoopGroupState[];
  addLoopGroup(name: string): Promise<void>;
  removeLoopGroup(name: string): Promise<void>;
  addLoop(name: string, group: string): Promise<void>;
  /** Settles when others accept in its place; what is open in it may end by itself. */
  removeLoop(name: string): Promise<void>;
  channels(): Promise<readonly EngineChannel[]>;
  /** False where it is gone already. */
  closeChannel(id: string): Promise<boolean>;
  /** By the key of the Listener. */
  listenerTotals(): ReadonlyMap<string, TrafficTotals>;
  /** By the key of the Endpoint. */
  servers(): ReadonlyMap<string, ServerState>;
  dnsCache(): Promise<readonly DnsCacheEntry[]>;
  /** Forgets an entry; false where it is not there. */
  dropDnsCache(holder: string, name: string): Promise<boolean>;
  onHealth(
    listener: (
      server: string,
      state: { readonly health: "up" | "down"; readonly reason: string },
    ) => void,
  ): () => void;
}
