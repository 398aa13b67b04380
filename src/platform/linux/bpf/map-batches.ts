/** The commands of bpf(2) that take or give many entries of a map at once. */
import { ERRNO } from "../../errno.ts";
import { allocateNative, type NativeMemory, putPointer } from "../native-memory.ts";
import { checked } from "../system-error.ts";
import { ATTRIBUTE_BYTES, bpf } from "./bpf-call.ts";

export type MapEntry = readonly [key: Uint8Array, value: Uint8Array];

export interface MapBatch {
  /** Descriptor of the map. */
  readonly map: number;
  readonly keys: NativeMemory;
  readonly values?: NativeMemory;
  /** How many entries these hold, or have room for. */
  readonly count: number;
  /** Of commands that read: where to go on; it is then where this call ended. */
  readonly position?: NativeMemory;
  readonly isFirst?: boolean;
}

export interface BatchResult {
  /** 0, or a negative errno. */
  readonly result: number;
  readonly done: number;
}

export interface BatchReading {
  readonly map: number;
  readonly command: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  /** How many entries a call has room for at first. */
  readonly room?: number;
}

export const MOST_IN_A_BATCH = 1024;

/** Where in the arguments a field is. */
const BATCH = { from: 0, to: 8, keys: 16, values: 24, count: 32, map: 36, bytes: 56 } as const;
/** Hash maps say their position so, also where a key is shorter. */
const LEAST_POSITION_BYTES = 4;

/** One call. `attributes`: memory for its arguments, of ATTRIBUTE_BYTES. */
export function callBatch(command: number, attributes: NativeMemory, batch: MapBatch): BatchResult {
  const { view, bytes } = attributes;
  const position = batch.position?.address ?? 0;
  bytes.fill(0);
  putPointer(view, BATCH.from, batch.isFirst ? 0 : position);
  putPointer(view, BATCH.to, position);
  putPointer(view, BATCH.keys, batch.keys.address);
  putPointer(view, BATCH.values, batch.values?.address ?? 0);
  view.setUint32(BATCH.count, batch.count, true);
  view.setUint32(BATCH.map, batch.map, true);
  const result = bpf(command, attributes, BATCH.bytes);
  return { result, done: view.getUint32(BATCH.count, true) };
}

/** All entries of a hash map, by a command that reads batches. @throws CoreError ERR_SYSTEM_CALL */
export function* readBatches(reading: BatchReading): Generator<MapEntry> {
  const { map, command, keyBytes, valueBytes } = reading;
  // Not those of the map: it may be asked for something else between two entries.
  const attributes = allocateNative(ATTRIBUTE_BYTES);
  const position = allocateNative(Math.max(keyBytes, LEAST_POSITION_BYTES));
  let count = reading.room ?? MOST_IN_A_BATCH;
  let keys = allocateNative(count * keyBytes);
  let values = allocateNative(count * valueBytes);
  for (let isFirst = true; ; isFirst = false) {
    const batch = { map, keys, values, count, position, isFirst };
    const { result, done } = callBatch(command, attributes, batch);
    if (result === -ERRNO.ENOSPC) {
      // The kernel gives what has one hash all at once, or nothing of it.
      count *= 2;
      keys = allocateNative(count * keyBytes);
      values = allocateNative(count * valueBytes);
      continue;
    }
    const isLast = result === -ERRNO.ENOENT;
    if (!isLast) checked("bpf", result, "a walk over a map");
    for (let index = 0; index < done; index += 1) {
      yield [part(keys, index, keyBytes), part(values, index, valueBytes)];
    }
    if (isLast) return;
  }
}

function part({ bytes }: NativeMemory, index: number, byteCount: number): Uint8Array {
  return bytes.slice(index * byteCount, (index + 1) * byteCount);
}
