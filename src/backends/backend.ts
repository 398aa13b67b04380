import type { Log } from "../core/log.ts";
import type { MetricFamily } from "../core/metrics/metric-family.ts";
import type { OptionSpecs, ValuesOf } from "../core/options/option-spec.ts";
import type { Packet } from "../core/route/packet.ts";
import type { Verdict } from "../core/route/verdict.ts";
import type { Sink } from "../core/sinks/sink.ts";
import type { Op, SetName } from "../core/view/ops.ts";
import type { Capabilities } from "./capabilities.ts";
import type { PlaneControl } from "./plane-control.ts";

/** What a backend needs and does not find on this machine. */
export interface Finding {
  /** Whether it works without: then the finding is a warning. */
  readonly severity: "missing" | "degraded";
  readonly what: string;
  /** What to do about it, as a sentence or a command. */
  readonly remedy: string;
}

/** What `probe` may look at without touching anything. */
export interface Machine {
  readonly os: NodeJS.Platform;
  readonly isRoot: boolean;
}

export interface BackendContext {
  readonly nodeName: string;
  readonly log: Log;
  /** For what a backend prints; standard output, unless a test listens. */
  readonly stdout: NodeJS.WritableStream;
  /** Listening sockets that the process before this one gave, by id; for those that take over. */
  readonly inherited?: ListeningSockets;
  /** Opened only to remove what an earlier run left: another data plane may be at work meanwhile. */
  readonly isForCleanup?: boolean;
  /** How the whole instance is; well where nobody tells. */
  readonly health?: InstanceHealth;
  /**
   * Called by a backend that looks after what it programmed: with the error where that could not be put
   * right, with undefined once all is right again.
   */
  readonly onRepair?: (error: unknown) => void;
  /** Called when it begins to look whether that is right, which `onRepair` ends. */
  readonly onRepairing?: () => void;
  /** Called when `status` may say something else without a sync: a file is back. */
  readonly onStatus?: () => void;
}

/** What a backend is told of the instance that it is a part of. */
export interface InstanceHealth {
  /** Nothing hangs, nothing failed, and all other backends have applied a state. */
  isHealthy(): boolean;
}

/** Descriptors of listening sockets, by ids that mean the same in both processes. */
export type ListeningSockets = ReadonlyMap<string, readonly number[]>;

/** A data plane inside this process, for those who look into it or take its place. */
export interface InnerPlane {
  /** Its event loops in their groups, with how many channels of each kind are open. */
  loopGroups(): Promise<readonly LoopGroupStatus[]>;
  /** A CPU profile of a loop, as `.cpuprofile` holds it. */
  profile(loop: string, durationMs: number): Promise<string>;
  /** For the process that takes over; none where sockets can not be handed over. */
  sockets(): ListeningSockets;
  /** The other process serves the sockets: this one accepts no more. `drain` follows. */
  release(): Promise<void>;
  /** For commands that look into it and change what runs; missing where it has none. */
  readonly control?: PlaneControl;
}

export interface LoopGroupStatus {
  readonly name: string;
  readonly loops: readonly {
    readonly name: string;
    readonly channels: Readonly<Record<string, number>>;
    /** CPU time so far; missing where the system does not say. */
    readonly cpuSeconds?: number;
  }[];
}

export interface BackendStatus {
  /** For people, one line: `12 services, 40 endpoints`. */
  readonly summary: string;
  /** What the data plane can not do of what is asked of it now. */
  readonly notHonoured: readonly string[];
  /** The listeners among it that are not served as they were asked for. */
  readonly unserved?: readonly UnservedListener[];
}

/** A listener that a data plane can not serve as asked, and why: a certificate that can not be read. */
export interface UnservedListener {
  /** Key of the Listener. */
  readonly listener: string;
  readonly reason: string;
  /** Whether it should be open on this machine and is not. One with an address of another machine should not. */
  readonly isClosed?: boolean;
}

/**
 * Makes one data plane match the state of this node. It owns what it programmed, finds it again after
 * a restart and repairs drift. Applying twice changes nothing.
 */
export interface Backend {
  readonly sink: Sink;
  status(): BackendStatus;
  /** Where the data plane is in this process. */
  readonly plane?: InnerPlane;
  /** What the data plane counts, read at this moment. */
  metrics?(): readonly MetricFamily[];
  /** Asks the kernel for what it counts, which `metrics` tells then. Does not throw. */
  measure?(): Promise<void>;
  /** Ends what is under way without breaking it; what was programmed stays. */
  drain(): Promise<void>;
  /** Removes everything it ever programmed; succeeds where nothing is left. */
  cleanup(): Promise<void>;
  /** Lets go of its handles. May be called at any time, and more than once. */
  close(): Promise<void>;
}

/** What a start would do to a data plane. */
export interface Preview {
  /** Exactly as the data plane would be told; empty where it has all of it already. */
  readonly script: string;
  /** Why the data plane could not be read: then the script is for one that holds nothing of it yet. */
  readonly unread?: string;
  /** What would be done beside that, in words. */
  readonly further?: readonly string[];
}

/** What a data plane says of a packet. */
export interface LiveAnswer {
  /** In words: what the packet meets, and where it comes to. */
  readonly lines: readonly string[];
  /** How that differs from what the reference says; empty where it does not. */
  differencesFrom(verdict: Verdict): readonly string[];
  /** Where it does not differ: what is not known and may make it differ; empty where that can not be. */
  doubtsAbout(verdict: Verdict): readonly string[];
}

/** What has to work: removing what was left needs less than `run`, which is meant where nothing is said. */
export type ProbePurpose = "run" | "clean-up";

/**
 * A backend as the registry knows it. The module that holds it is light: help and docs read it on
 * every machine, so `probe` and `create` import whatever belongs to a platform.
 */
export interface BackendDefinition<S extends OptionSpecs = OptionSpecs> {
  readonly name: string;
  /** One sentence without a full stop. */
  readonly summary: string;
  readonly options: S;
  readonly capabilities: Capabilities;
  /** The sets that it wants beyond services and endpoints. */
  readonly sets: readonly SetName[];
  /** How long `drain` may take; where it is missing, no time to speak of. */
  drainMs?(options: ValuesOf<S>): number;
  /** Whether it wants the listening sockets of the instance that runs; where it is missing, never. */
  takesOver?(options: ValuesOf<S>): boolean;
  /** What is missing here; empty where it works. */
  probe(machine: Machine, purpose?: ProbePurpose): Promise<readonly Finding[]>;
  /**
   * What would be executed on this machine now. The data plane is read as a start reads it; nothing is
   * touched and no place is taken, so another instance may run. Where it is missing, the operations
   * themselves are all that can be shown.
   */
  preview?(options: ValuesOf<S>, context: BackendContext, ops: readonly Op[]): Promise<Preview>;
  /**
   * Where the data plane of this machine itself would send a packet, read from it at this moment by
   * what shares nothing with the code that programs it. Needs no instance, and disturbs none.
   */
  explainLive?(packet: Packet): Promise<LiveAnswer>;
  create(options: ValuesOf<S>, context: BackendContext): Promise<Backend>;
}
