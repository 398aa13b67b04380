/**
 * `portolan/core`: the model, the store, what a node sees of it, and where packets go. Pure: no I/O, no clock.
 */

export { CoreError, type CoreErrorOptions, type ErrorCode } from "../core/errors.ts";
export type { Log } from "../core/log.ts";

// The model.

export { FAMILIES, type Family } from "../core/model/address.ts";
export type { Certificate } from "../core/model/certificate.ts";
export type { Metadata, Protocol, StringMap } from "../core/model/common.ts";
export type { Endpoint, EndpointPort, TopologyHints } from "../core/model/endpoint.ts";
export {
  BALANCING_METHODS,
  type BalancingMethod,
  type Group,
  type HealthCheck,
  type HealthCheckProtocol,
  type HttpCheck,
} from "../core/model/group.ts";
export { canonicalHash, canonicalJson } from "../core/model/hash.ts";
export type { Listener, ListenerMode, ListenerTls, ProxyProtocol } from "../core/model/listener.ts";
export type { Node, Tunnel } from "../core/model/node.ts";
export { KINDS, type Kind, keyOf, type ModelObject, type ObjectOf } from "../core/model/object.ts";
export { parseKind, parseObject } from "../core/model/parse.ts";
export { formatProblem, type PathPart, type Problem } from "../core/model/problems.ts";
export type { RouteHints } from "../core/model/route-hints.ts";
export type { Access, SecurityGroup, SecurityRule } from "../core/model/security-group.ts";
export type {
  EdgeAddress,
  EdgePolicy,
  GroupRef,
  Service,
  ServicePort,
  ServiceType,
  TrafficPolicy,
} from "../core/model/service.ts";

// The store, and what follows it.

export { type Diff, DiffStore } from "../core/store/diff-store.ts";
export { type Commit, GlobalStore, type GlobalStoreOptions } from "../core/store/global-store.ts";
export type { Conflict } from "../core/store/resolution.ts";
export type { GlobalState, GroupState, ServiceGroup, ServiceState } from "../core/store/state.ts";
export type { Transaction } from "../core/store/transaction.ts";
export { NodeWatcher } from "../core/view/node-watcher.ts";
export { type ObjectOp, ObjectWatcher } from "../core/view/object-watcher.ts";
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
} from "../core/view/ops.ts";

// Sinks.

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

// Where packets go.

export type { Cidr } from "../core/model/address.ts";
export type { GroupTls } from "../core/model/group.ts";
export type { TargetPattern } from "../core/model/target-pattern.ts";
export type { TargetRule } from "../core/model/target-rules.ts";
export type { WebsocksAgent, WebsocksServer, WebsocksUrl } from "../core/model/websocks.ts";
export type { CandidateJson } from "../core/route/describe.ts";
export { describeVerdict, type VerdictJson, verdictToJson } from "../core/route/describe.ts";
export type { AffinityRecord, Observed } from "../core/route/observed.ts";
export type { Packet, PacketOrigin, RequestHint } from "../core/route/packet.ts";
export { createRouter, type Router, type RouteState, route } from "../core/route/route.ts";
export {
  DEFAULT_ROUTE_POLICY,
  type LocalDetection,
  type NodePortAddresses,
  type RoutePolicy,
} from "../core/route/route-policy.ts";
export type {
  AddressType,
  Candidate,
  DropVerdict,
  EndpointsVerdict,
  Matched,
  NotChosen,
  NotOursVerdict,
  RejectVerdict,
  Verdict,
} from "../core/route/verdict.ts";
export type {
  FittingCommit,
  NodeCursor,
  ObjectBefore,
  PendingTransaction,
} from "../core/store/global-store.ts";
export type { Befores, Cursor } from "../core/store/history.ts";
export type { ObjectChange } from "../core/store/resolution.ts";
export type { EndingPlace } from "../core/view/ops.ts";
