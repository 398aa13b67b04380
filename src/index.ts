/**
 * The library. Importing it starts nothing. `portolan/core`, `/net`, `/proxy` and `/backends` hold the whole of
 * each part.
 *
 *     const store = new GlobalStore();
 *     const { objects } = await loadState("state.yaml");
 *     store.transact("me", (transaction) => transaction.replaceAll(objects));
 *     store.markSynced("me");
 *     const watcher = new NodeWatcher(store, "node-a");
 *     for (const op of await watcher.next()) console.log(op);
 */

// Programs in a few lines.

export { type Balance, type BalanceOptions, balance } from "./apps/simple/balance.ts";
export { type FollowOptions, follow } from "./apps/simple/follow.ts";
export { type ServeOptions, type Serving, serve } from "./apps/simple/serve.ts";
export type {
  ServersDescription,
  ServiceDescription,
  StateDescription,
} from "./apps/simple/state-description.ts";

// Errors.

export { CoreError, type ErrorCode } from "./core/errors.ts";
export { formatProblem, type Problem } from "./core/model/problems.ts";

// The model.

export type { Family } from "./core/model/address.ts";
export type { Certificate } from "./core/model/certificate.ts";
export type { Metadata, Protocol, StringMap } from "./core/model/common.ts";
export type { Endpoint, EndpointPort, TopologyHints } from "./core/model/endpoint.ts";
export type { BalancingMethod, Group, HealthCheck, HttpCheck } from "./core/model/group.ts";
export { canonicalHash, canonicalJson } from "./core/model/hash.ts";
export type { Listener, ListenerMode, ListenerTls, ProxyProtocol } from "./core/model/listener.ts";
export type { Node, Tunnel } from "./core/model/node.ts";
export { KINDS, type Kind, keyOf, type ModelObject, type ObjectOf } from "./core/model/object.ts";
export { parseKind, parseObject } from "./core/model/parse.ts";
export type { RouteHints } from "./core/model/route-hints.ts";
export type { Access, SecurityGroup, SecurityRule } from "./core/model/security-group.ts";
export type {
  EdgeAddress,
  EdgePolicy,
  GroupRef,
  Service,
  ServicePort,
  ServiceType,
  TrafficPolicy,
} from "./core/model/service.ts";

// State files.

export { type LoadOptions, loadState } from "./sources/file/load-state.ts";
export { parseState } from "./sources/file/parse-state.ts";
export type { LoadedState } from "./sources/file/state-builder.ts";
export type { StateFile } from "./sources/file/state-file.ts";

// The store, and what follows it.

export { type Diff, DiffStore } from "./core/store/diff-store.ts";
export { type Commit, GlobalStore, type GlobalStoreOptions } from "./core/store/global-store.ts";
export type { Conflict } from "./core/store/resolution.ts";
export type { GlobalState, GroupState, ServiceGroup, ServiceState } from "./core/store/state.ts";
export type { Transaction } from "./core/store/transaction.ts";
export { NodeWatcher } from "./core/view/node-watcher.ts";
export { type ObjectOp, ObjectWatcher } from "./core/view/object-watcher.ts";
export {
  ALL_SETS,
  type DeleteOp,
  type NodeEndpoint,
  type NodeEndpointPort,
  type NodeService,
  type Op,
  RESET,
  type ResetOp,
  type SetName,
  type SetOp,
  type SetValues,
  SYNC,
  type SyncOp,
} from "./core/view/ops.ts";

// Where packets go.

export { describeVerdict, type VerdictJson, verdictToJson } from "./core/route/describe.ts";
export type { AffinityRecord, Observed } from "./core/route/observed.ts";
export type { Packet, PacketOrigin, RequestHint } from "./core/route/packet.ts";
export { createRouter, type Router, type RouteState, route } from "./core/route/route.ts";
export {
  DEFAULT_ROUTE_POLICY,
  type LocalDetection,
  type NodePortAddresses,
  type RoutePolicy,
} from "./core/route/route-policy.ts";
export type { AddressType, Candidate, Matched, NotChosen, Verdict } from "./core/route/verdict.ts";

// For those who write a backend or a source.

export type {
  Backend,
  BackendContext,
  BackendDefinition,
  BackendStatus,
  Finding,
  Machine,
  Preview,
  ProbePurpose,
} from "./backends/backend.ts";
export type { Capabilities } from "./backends/capabilities.ts";
export type { Log } from "./core/log.ts";
export type { OptionSpec, OptionSpecs, ValuesOf } from "./core/options/option-spec.ts";
export {
  createDecoderSink,
  type Decoder,
  FURTHER_SETS,
  type FurtherSet,
  type SetHandler,
} from "./core/sinks/decoder.ts";
export { createFilterReset } from "./core/sinks/filter-reset.ts";
export {
  type ChangedKeys,
  createFullStateSink,
  type FullState,
  type FullStateTarget,
  type ServiceEndpoints,
} from "./core/sinks/fullstate.ts";
export { createPipe, type NamedSink, type PipeMode } from "./core/sinks/pipe.ts";
export type { Sink, WatchRequest } from "./core/sinks/sink.ts";
export type { Source, SourceReporter } from "./sources/source.ts";
