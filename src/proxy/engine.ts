import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { Log } from "../core/log.ts";
import type { TunnelSettings } from "../net/kcp/kcp-options.ts";
import type { WorkerStart } from "../net/threads/loop-thread.ts";
import type { Fleet, FleetEvents } from "./engine/fleet.ts";
import type { MemberHealth, OnHealth } from "./engine/health-board.ts";
import type { InheritedSockets } from "./engine/inherited-sockets.ts";
import type { EngineLoops } from "./engine/loop-control.ts";
import { ProxyEngine } from "./engine/proxy-engine.ts";
import { lookUp, sleepUnheld } from "./engine/system-names.ts";
import type { EngineChannels } from "./engine-channels.ts";
import type { EngineConfig } from "./engine-config.ts";
import type { EngineNames } from "./engine-names.ts";
import type { EngineStats, ServerCounts } from "./engine-stats.ts";
import type { TrafficCounts } from "./stats/counter-row.ts";

export interface EngineOptions {
  readonly loops: number;
  /** `posix` falls back to `node` where it does not work, and says so. */
  readonly provider: "posix" | "node";
  readonly log: Log;
  /** Whether loops sleep between any two events, also where to stay awake would pay. */
  readonly alwaysSleeps?: boolean;
  readonly drainTimeoutMs: number;
  /** The secret of tunnels; missing: nothing is reached or served by KCP. */
  readonly tunnels?: TunnelSettings | undefined;
  /** Listening sockets that another process gave; those that the first configuration does not use are closed. */
  readonly inherited?: InheritedSockets;
  /** How threads are started; another way than Node's own is for tests, which run the sources. */
  readonly startWorker?: (entry: URL, options: WorkerStart) => Worker;
}

/** The userspace data plane of one process. */
export interface Engine {
  /**
   * Makes it so; settles when every listener of the configuration listens. Rejects with all problems
   * (an address in use is named), and the rest still runs.
   */
  apply(config: EngineConfig): Promise<void>;
  /** Read from shared memory, without stopping a loop. */
  stats(): EngineStats;
  /** What of the configuration is not so, although it was applied: groups of loops that are not there. */
  unmet(): readonly string[];
  /** Its event loops, which come and go while it runs. */
  readonly loops: EngineLoops;
  /** What is open in them. */
  readonly channels: EngineChannels;
  /** The names that it knows the addresses of. */
  readonly names: EngineNames;
  /** The part of `stats` about one listener, or one server of a group; undefined where it is not there. */
  listenerCounts(listener: string): TrafficCounts | undefined;
  serverCounts(group: string, server: string): ServerCounts | undefined;
  /** How a server is now, as far as it is known. */
  healthOf(group: string, server: string): MemberHealth;
  /** Calls `listener` whenever a server has gone up or down, until the result is called. */
  onHealth(listener: OnHealth): () => void;
  /** Listening sockets for another process to take over, by id; empty where the provider can not. */
  sockets(): InheritedSockets;
  /** The other process serves the sockets: this one accepts no more, also after `apply`. `drain` follows. */
  release(): Promise<void>;
  /** Stops accepting, waits until connections end or the drain time-out, then closes the rest. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

const NO_SOCKETS: InheritedSockets = new Map();

/** Settles when the loops run; they do nothing until `apply`. */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const { log, drainTimeoutMs, inherited = NO_SOCKETS } = options;
  const posix = options.provider === "posix" ? await loadPosixFleet(log) : undefined;
  const startFleet = async (events: FleetEvents): Promise<Fleet> => {
    if (posix !== undefined) {
      return await posix.start({ ...options, inherited, sleep: sleepUnheld }, events);
    }
    // Only here: with it comes all that else is loaded by the threads of loops.
    const { NodeFleet } = await import("./engine/node-fleet.ts");
    return new NodeFleet({ log, sleep, tunnels: options.tunnels }, events);
  };
  return ProxyEngine.start({
    log,
    drainTimeoutMs,
    checksFirst: inherited.size > 0,
    lookup: lookUp,
    sleep: sleepUnheld,
    startFleet,
  });
}

/** Undefined where system calls can not be made. */
async function loadPosixFleet(
  log: Log,
): Promise<typeof import("./engine/posix-fleet.ts").PosixFleet | undefined> {
  try {
    return (await import("./engine/posix-fleet.ts")).PosixFleet;
  } catch (error) {
    log.warn({ err: error }, "the provider posix does not work here: Node's own sockets are used");
    return undefined;
  }
}
