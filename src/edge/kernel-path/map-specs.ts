import {
  BPF_F_MMAPABLE,
  BPF_F_NO_PREALLOC,
  MAP_TYPE,
} from "../../platform/linux/bpf/bpf-numbers.ts";
import {
  COUNTS,
  FLOW_KEY,
  FLOW_VALUE,
  type KernelPathMaps,
  PEER_VALUE,
  PLACE_VALUE,
  RECORD,
  ROUTE_KEY,
  ROUTE_VALUE,
  SENDER_KEY,
  SENDER_VALUE,
  SETTING,
} from "./layout.ts";

export const RECORD_COUNT = 512;
export const COUNT_BYTES = 8;
const SLOW_COUNT = 16_384;
const MAX_ROUTES = 65_536;
const MAX_PLACES = 65_536;
const NUMBER_BYTES = 4;
const NS_BYTES = 8;

export interface MapSpec {
  readonly type: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  readonly maxEntries: number;
  readonly flags?: number;
}

export type MapName = keyof KernelPathMaps;

/** Something of each map. */
export function ofEachMap<V>(make: (name: MapName) => V): Record<MapName, V> {
  return {
    setting: make("setting"),
    flows: make("flows"),
    slow: make("slow"),
    places: make("places"),
    peers: make("peers"),
    routesV4: make("routesV4"),
    routesV6: make("routesV6"),
    senders: make("senders"),
    records: make("records"),
    counts: make("counts"),
    scratch: make("scratch"),
  };
}

/** `scratchBytes`: what the programs want for each processor, twice. */
export function mapSpecs(
  maxFlows: number,
  scratchBytes: number,
): Readonly<Record<MapName, MapSpec>> {
  return {
    setting: array(SETTING.bytes, 1),
    flows: hash(FLOW_KEY.bytes, FLOW_VALUE.bytes, 2 * maxFlows),
    slow: {
      type: MAP_TYPE.lruHash,
      keyBytes: FLOW_KEY.bytes,
      valueBytes: NS_BYTES,
      maxEntries: SLOW_COUNT,
    },
    places: hash(NUMBER_BYTES, PLACE_VALUE.bytes, MAX_PLACES),
    peers: hash(NUMBER_BYTES, PEER_VALUE.bytes, RECORD_COUNT),
    routesV4: trie(ROUTE_KEY.v4Bytes),
    routesV6: trie(ROUTE_KEY.v6Bytes),
    // One that moves is there twice for a moment.
    senders: hash(SENDER_KEY.bytes, SENDER_VALUE.bytes, 2 * RECORD_COUNT),
    records: { ...array(RECORD.bytes, RECORD_COUNT), flags: BPF_F_MMAPABLE },
    counts: { ...array(COUNT_BYTES, COUNTS.count), type: MAP_TYPE.perCpuArray },
    scratch: { ...array(scratchBytes, 2), type: MAP_TYPE.perCpuArray },
  };
}

function array(valueBytes: number, maxEntries: number): MapSpec {
  return { type: MAP_TYPE.array, keyBytes: NUMBER_BYTES, valueBytes, maxEntries };
}

function hash(keyBytes: number, valueBytes: number, maxEntries: number): MapSpec {
  return { type: MAP_TYPE.hash, keyBytes, valueBytes, maxEntries, flags: BPF_F_NO_PREALLOC };
}

function trie(keyBytes: number): MapSpec {
  return { ...hash(keyBytes, ROUTE_VALUE.bytes, MAX_ROUTES), type: MAP_TYPE.lpmTrie };
}
