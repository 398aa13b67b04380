/** The userspace data plane, as commands see it: by the keys of the model. */
export type {
  DnsCacheEntry,
  PlaneControl as EnginePort,
  ServerState,
  TrafficTotals,
} from "../backends/plane-control.ts";
export { RESOLVER } from "../backends/plane-control.ts";
export type { LoopGroupNames as LoopGroupState } from "../proxy/engine/loop-control.ts";
export type { EngineChannel } from "../proxy/engine-channels.ts";
