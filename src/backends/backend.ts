import type { Log } from "../core/log.ts";
import type { OptionSpecs, ValuesOf } from "../core/options/option-spec.ts";
import type { Packet } from "../core/route/packet.ts";
import type { Sink } from "../core/sinks/sink.ts";
import type { Op, SetName } from "../core/view/ops.ts";
import type { Capabilities } from "./capabilities.ts";
import type { MetricFamily } from "./metric-family.ts";

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
}

export interface BackendStatus {
  /** For people, one line: `12 services, 40 endpoints`. */
  readonly summary: string;
  /** What the data plane can not do of what is asked of it now. */
  readonly notHonoured: readonly string[];
}

/**
 * Makes one data plane match the state of this node. It owns what it programmed, finds it again after
 * a restart and repairs drift. Applying twice changes nothing.
 */
export interface Backend {
  readonly sink: Sink;
  status(): BackendStatus;
  /** What the data plane counts, read at this moment. */
  metrics?(): readonly MetricFamily[];
  /** Where the data plane itself would send a packet, in words. */
  explainLive?(packet: Packet): Promise<readonly string[]>;
  /** Ends what is under way without breaking it; what was programmed stays. */
  drain(): Promise<void>;
  /** Removes everything it ever programmed; succeeds where nothing is left. */
  cleanup(): Promise<void>;
  /** Lets go of its handles. May be called at any time, and more than once. */
  close(): Promise<void>;
}

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
  /** What is missing here; empty where it works. */
  probe(machine: Machine): Promise<readonly Finding[]>;
  /**
   * What would be executed where nothing of it is there yet, exactly as the data plane would be told;
   * touches nothing. Where it is missing, the operations themselves are all that can be shown.
   */
  preview?(options: ValuesOf<S>, context: BackendContext, ops: readonly Op[]): Promise<string>;
  create(options: ValuesOf<S>, context: BackendContext): Promise<Backend>;
}
