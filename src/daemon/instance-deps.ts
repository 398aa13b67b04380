import type { Machine } from "../backends/backend.ts";
import type { Log } from "../core/log.ts";
import type { MetricFamily } from "../core/metrics/metric-family.ts";
import type { ListenAddress } from "../core/options/listen-address.ts";
import type { OpStream } from "../core/sinks/pump.ts";
import type { WatchRequest } from "../core/sinks/sink.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import type { Source, SourceReporter } from "../sources/source.ts";
import type { InstanceConfig } from "./config.ts";
import type { Presence } from "./presence.ts";
import type { SourceSpec } from "./source-spec.ts";

export type ApiSourceSpec = Extract<SourceSpec, { kind: "api" }>;

/** The API server that `--to api` attaches to the store. */
export interface ApiAttachment {
  readonly address: ListenAddress;
  watchers(): number;
  /** What it counts besides. */
  metrics?(): readonly MetricFamily[];
  close(): Promise<void>;
}

/** All that an instance takes from the world; tests give their own. */
export interface InstanceDeps {
  readonly log: Log;
  readonly stdout: NodeJS.WritableStream;
  readonly machine: Machine;
  readonly version: string;
  readonly nowMs: () => number;
  readonly monotonicSeconds: () => number;
  readonly random: () => number;
  /** Rejects where the signal ends it. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly createSource: (spec: SourceSpec, config: InstanceConfig) => Promise<Source>;
  readonly startApi: (store: GlobalStore, config: InstanceConfig) => Promise<ApiAttachment>;
  /** How other processes find this one; where it is missing, they do not. */
  readonly createPresence?: (config: InstanceConfig) => Presence;
  /** One node's operations straight from an API, without a store in between. */
  readonly watchApi: (
    spec: ApiSourceSpec,
    config: InstanceConfig,
    request: WatchRequest,
    report: SourceReporter,
  ) => Promise<OpStream>;
}
