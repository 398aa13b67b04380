import type { LoopGroupNames } from "../proxy/engine/loop-control.ts";
import type { EngineChannel } from "../proxy/engine-channels.ts";

/** What was counted of a listener or a server since it is there. */
export interface TrafficTotals {
  readonly connections: number;
  readonly totalConnections: number;
  /** From clients. */
  readonly bytesIn: number;
  /** To clients. */
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

/** What is remembered of a name that was asked for. */
export interface DnsCacheEntry {
  /** Key of the Listener, or `RESOLVER` for names of servers. */
  readonly holder: string;
  readonly name: string;
  readonly addresses: readonly string[];
  readonly expiresInMs: number;
}

/** Holds the names of servers. No Listener has such a key. */
export const RESOLVER = "resolver";

/** Is told of a server, by the key of its Endpoint, that has gone up or down. */
export type OnServerHealth = (
  server: string,
  state: { readonly health: "up" | "down"; readonly reason: string },
) => void;

/** A data plane inside this process, as commands see it: by the keys of the model. */
export interface PlaneControl {
  loopGroups(): readonly LoopGroupNames[];
  addLoopGroup(name: string): Promise<void>;
  /** Settles when others accept in the place of its loops; what is open in them may end by itself. */
  removeLoopGroup(name: string): Promise<void>;
  addLoop(name: string, group: string): Promise<void>;
  /** Settles when others accept in its place; what is open in it may end by itself. */
  removeLoop(name: string): Promise<void>;
  channels(): Promise<readonly EngineChannel[]>;
  /**
   * Closes a connection with its session, or a session with its connections; false where it is gone.
   * @throws CoreError ERR_IN_USE for listening sockets, which go with their listener
   */
  closeChannel(id: string): Promise<boolean>;
  /** By the key of the Listener. Each is read when it is asked for, as with servers. */
  listenerTotals(): ReadonlyMap<string, TrafficTotals>;
  /** By the key of the Endpoint; those that nothing leads to are not there. */
  servers(): ReadonlyMap<string, ServerState>;
  dnsCache(): Promise<readonly DnsCacheEntry[]>;
  /** Has a name asked for again; false where it is not there. The name of a server keeps its addresses until then. */
  dropDnsCache(holder: string, name: string): Promise<boolean>;
  /** Calls `listener` until the result is called. */
  onHealth(listener: OnServerHealth): () => void;
}
