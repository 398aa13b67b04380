/**
 * `portolan/backends`: what a data plane of one's own is made of, and Portolan's own ones by name. Nothing of a
 * platform is loaded before a backend is created.
 */

export { type FollowOptions, follow } from "../apps/simple/follow.ts";
export type {
  Backend,
  BackendContext,
  BackendDefinition,
  BackendStatus,
  Finding,
  InnerPlane,
  InstanceHealth,
  ListeningSockets,
  LiveAnswer,
  LoopGroupStatus,
  Machine,
  Preview,
  ProbePurpose,
  UnservedListener,
} from "../backends/backend.ts";
export type { Capabilities } from "../backends/capabilities.ts";
export type {
  DnsCacheEntry,
  OnServerHealth,
  PlaneControl,
  ServerState,
  TrafficTotals,
} from "../backends/plane-control.ts";
export { BACKEND_NAMES, loadAllBackends, loadBackend } from "../backends/registry.ts";
export { CoreError, type CoreErrorOptions, type ErrorCode } from "../core/errors.ts";
export type { Log } from "../core/log.ts";
export type { MetricFamily, MetricSample } from "../core/metrics/metric-family.ts";
export type { ListenAddress } from "../core/options/listen-address.ts";
export type {
  AlwaysThere,
  OptionSpec,
  OptionSpecs,
  Parsed,
  SpecBase,
  ValueOf,
  ValuesOf,
} from "../core/options/option-spec.ts";
export {
  createDecoderSink,
  type Decoder,
  FURTHER_SETS,
  type FurtherSet,
  type SetHandler,
} from "../core/sinks/decoder.ts";
export { createFilterReset } from "../core/sinks/filter-reset.ts";
export {
  type ChangedKeys,
  createFullStateSink,
  type FullState,
  type FullStateTarget,
  type ServiceEndpoints,
} from "../core/sinks/fullstate.ts";
export { createPipe, type NamedSink, type PipeMode } from "../core/sinks/pipe.ts";
export type { Sink, WatchRequest } from "../core/sinks/sink.ts";
export { GlobalStore, type GlobalStoreOptions } from "../core/store/global-store.ts";
export { NodeWatcher } from "../core/view/node-watcher.ts";
export type {
  NodeEndpoint,
  NodeEndpointPort,
  NodeService,
  Op,
  SetName,
  SetValues,
} from "../core/view/ops.ts";
export type { Source, SourceReporter } from "../sources/source.ts";
