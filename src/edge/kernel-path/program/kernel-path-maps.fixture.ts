/** The maps of the programs, filled by hand. */
import { cpus } from "node:os";
import { BpfMap, createMap } from "../../../platform/linux/bpf/bpf-map.ts";
import {
  BPF_F_MMAPABLE,
  BPF_F_NO_PREALLOC,
  MAP_TYPE,
} from "../../../platform/linux/bpf/bpf-numbers.ts";
import { checkOf } from "../entries.ts";
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
} from "../layout.ts";
import {
  addressOf,
  type Ends,
  flowKey,
  NS_BYTES,
  NUMBER_BYTES,
  number,
  putEnds,
  senderKey,
  wide,
} from "./map-entries.fixture.ts";
import { SCRATCH_BYTES } from "./scratch.ts";

export interface FlowState {
  readonly isBack: boolean;
  readonly isOpen: boolean;
  readonly place: number;
}

/** A node as another one sees it. */
export interface Way {
  readonly mode: number;
  readonly localIp: string;
  readonly remoteIp: string;
  readonly port: number;
  readonly receiver: number;
  readonly record: number;
  readonly key: Uint8Array;
}

const SIZES = {
  setting: { keyBytes: NUMBER_BYTES, valueBytes: SETTING.bytes },
  flows: { keyBytes: FLOW_KEY.bytes, valueBytes: FLOW_VALUE.bytes },
  slow: { keyBytes: FLOW_KEY.bytes, valueBytes: NS_BYTES },
  places: { keyBytes: NUMBER_BYTES, valueBytes: PLACE_VALUE.bytes },
  peers: { keyBytes: NUMBER_BYTES, valueBytes: PEER_VALUE.bytes },
  routesV4: { keyBytes: ROUTE_KEY.v4Bytes, valueBytes: ROUTE_VALUE.bytes },
  routesV6: { keyBytes: ROUTE_KEY.v6Bytes, valueBytes: ROUTE_VALUE.bytes },
  senders: { keyBytes: SENDER_KEY.bytes, valueBytes: SENDER_VALUE.bytes },
  records: { keyBytes: NUMBER_BYTES, valueBytes: RECORD.bytes },
  counts: { keyBytes: NUMBER_BYTES, valueBytes: NS_BYTES },
  scratch: { keyBytes: NUMBER_BYTES, valueBytes: SCRATCH_BYTES },
} as const;

type MapName = keyof typeof SIZES;

const ENTRIES: Readonly<Record<MapName, readonly [type: number, count: number, flags?: number]>> = {
  setting: [MAP_TYPE.array, 1],
  flows: [MAP_TYPE.hash, 100, BPF_F_NO_PREALLOC],
  slow: [MAP_TYPE.lruHash, 100],
  places: [MAP_TYPE.hash, 100, BPF_F_NO_PREALLOC],
  peers: [MAP_TYPE.hash, 100, BPF_F_NO_PREALLOC],
  routesV4: [MAP_TYPE.lpmTrie, 100, BPF_F_NO_PREALLOC],
  routesV6: [MAP_TYPE.lpmTrie, 100, BPF_F_NO_PREALLOC],
  senders: [MAP_TYPE.hash, 100, BPF_F_NO_PREALLOC],
  records: [MAP_TYPE.array, 4, BPF_F_MMAPABLE],
  counts: [MAP_TYPE.perCpuArray, COUNTS.count],
  scratch: [MAP_TYPE.perCpuArray, 2],
};

export class FilledMaps {
  readonly #maps: Readonly<Record<MapName, BpfMap>> = {
    setting: open("setting"),
    flows: open("flows"),
    slow: open("slow"),
    places: open("places"),
    peers: open("peers"),
    routesV4: open("routesV4"),
    routesV6: open("routesV6"),
    senders: open("senders"),
    records: open("records"),
    counts: open("counts"),
    scratch: open("scratch"),
  };

  get descriptors(): KernelPathMaps {
    const maps = this.#maps;
    return {
      setting: maps.setting.descriptor,
      flows: maps.flows.descriptor,
      slow: maps.slow.descriptor,
      places: maps.places.descriptor,
      peers: maps.peers.descriptor,
      routesV4: maps.routesV4.descriptor,
      routesV6: maps.routesV6.descriptor,
      senders: maps.senders.descriptor,
      records: maps.records.descriptor,
      counts: maps.counts.descriptor,
      scratch: maps.scratch.descriptor,
    };
  }

  close(): void {
    for (const map of Object.values(this.#maps)) map.close();
  }

  set(isOn: boolean, tun: number, localPort: number): void {
    const value = Buffer.alloc(SETTING.bytes);
    value.writeUInt32LE(isOn ? 1 : 0, SETTING.isOn);
    value.writeUInt32LE(tun, SETTING.tun);
    value.writeUInt16BE(localPort, SETTING.localPort);
    this.#maps.setting.set(number(0), value);
  }

  get isOn(): boolean {
    return this.#maps.setting.get(number(0))?.[SETTING.isOn] === 1;
  }

  addRoute(address: string, bits: number, peer: number): void {
    const isV6 = address.includes(":");
    const bytes = addressOf(address);
    const key = Buffer.alloc(isV6 ? ROUTE_KEY.v6Bytes : ROUTE_KEY.v4Bytes);
    key.writeUInt32LE(bits, ROUTE_KEY.prefix);
    key.set(isV6 ? bytes : bytes.subarray(-4), ROUTE_KEY.address);
    (isV6 ? this.#maps.routesV6 : this.#maps.routesV4).set(key, number(peer));
  }

  addFlow(protocol: number, from: Ends, to: Ends, { isBack, isOpen, place }: FlowState): void {
    const value = Buffer.alloc(FLOW_VALUE.bytes);
    putEnds(value, to);
    value.writeUInt8(isBack ? 1 : 0, FLOW_VALUE.isBack);
    value.writeUInt8(isOpen ? 1 : 0, FLOW_VALUE.isOpen);
    value.writeUInt32LE(place, FLOW_VALUE.place);
    this.#maps.flows.set(flowKey(protocol, from), value);
  }

  removeFlow(protocol: number, from: Ends): void {
    this.#maps.flows.delete(flowKey(protocol, from));
  }

  lastUsedNs(protocol: number, from: Ends): bigint | undefined {
    const value = this.#maps.flows.get(flowKey(protocol, from));
    return value && Buffer.from(value).readBigUInt64LE(FLOW_VALUE.lastUsedNs);
  }

  slowNs(protocol: number, from: Ends): bigint | undefined {
    const value = this.#maps.slow.get(flowKey(protocol, from));
    return value && Buffer.from(value).readBigUInt64LE();
  }

  setSlowNs(protocol: number, from: Ends, ns: bigint): void {
    this.#maps.slow.set(flowKey(protocol, from), wide(ns));
  }

  addPlace(place: number, peer: number): void {
    this.#maps.places.set(number(place), number(peer));
  }

  removePlace(place: number): void {
    this.#maps.places.delete(number(place));
  }

  addPeer(peer: number, way: Way, link: number): void {
    const value = Buffer.alloc(PEER_VALUE.bytes);
    value.writeUInt32LE(way.mode, PEER_VALUE.mode);
    value.writeUInt32LE(link, PEER_VALUE.link);
    value.set(addressOf(way.localIp).subarray(-4), PEER_VALUE.localIp);
    value.set(addressOf(way.remoteIp).subarray(-4), PEER_VALUE.remoteIp);
    value.writeUInt16BE(way.port, PEER_VALUE.localPort);
    value.writeUInt16BE(way.port, PEER_VALUE.remotePort);
    value.writeUInt32LE(way.receiver, PEER_VALUE.receiver);
    value.writeUInt32LE(way.record, PEER_VALUE.record);
    value.set(way.key, PEER_VALUE.sealingKey);
    putCheck(number(peer), value, PEER_VALUE.check);
    this.#maps.peers.set(number(peer), value);
  }

  /** As a program sees an entry while its memory becomes another one's. */
  spoilPeer(peer: number, at: number): void {
    const value = this.#maps.peers.get(number(peer));
    if (value !== undefined) this.#maps.peers.set(number(peer), flipped(value, at));
  }

  spoilSender(way: Pick<Way, "receiver" | "remoteIp" | "port">, at: number): void {
    const value = this.#maps.senders.get(senderKey(way));
    if (value !== undefined) this.#maps.senders.set(senderKey(way), flipped(value, at));
  }

  /** The entry of one is found by the number of another. */
  copyPeer(from: number, to: number): void {
    const value = this.#maps.peers.get(number(from));
    if (value !== undefined) this.#maps.peers.set(number(to), value);
  }

  removePeer(peer: number): void {
    this.#maps.peers.delete(number(peer));
  }

  addSender(peer: number, way: Way): void {
    const key = senderKey(way);
    const value = Buffer.alloc(SENDER_VALUE.bytes);
    value.writeUInt32LE(way.mode, SENDER_VALUE.mode);
    value.writeUInt32LE(peer, SENDER_VALUE.peer);
    value.set(addressOf(way.localIp).subarray(-4), SENDER_VALUE.localIp);
    value.writeUInt32LE(way.record, SENDER_VALUE.record);
    value.set(way.key, SENDER_VALUE.openingKey);
    putCheck(key, value, SENDER_VALUE.check);
    this.#maps.senders.set(key, value);
  }

  record(index: number): Buffer {
    return Buffer.from(this.#maps.records.get(number(index)) ?? Buffer.alloc(RECORD.bytes));
  }

  setRecord(index: number, record: Uint8Array): void {
    this.#maps.records.set(number(index), record);
  }

  /** Of all processors. */
  count(which: number): number {
    const values = Buffer.from(this.#maps.counts.get(number(which)) ?? Buffer.alloc(0));
    let sum = 0;
    for (let at = 0; at < values.length; at += NS_BYTES) sum += values.readUInt32LE(at);
    return sum;
  }
}

function open(name: MapName): BpfMap {
  const [type, maxEntries, flags = 0] = ENTRIES[name];
  const { keyBytes, valueBytes } = SIZES[name];
  const descriptor = createMap({ name, type, maxEntries, flags, keyBytes, valueBytes });
  const processors = type === MAP_TYPE.perCpuArray ? cpus().length : 1;
  return new BpfMap(descriptor, { keyBytes, valueBytes: roundUp(valueBytes) * processors });
}

function roundUp(byteCount: number): number {
  return Math.ceil(byteCount / 8) * 8;
}

function putCheck(key: Buffer, value: Buffer, at: number): void {
  value.writeBigUInt64LE(checkOf(key, value.subarray(0, at)), at);
}

function flipped(value: Uint8Array, at: number): Buffer {
  const bytes = Buffer.from(value);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes;
}
