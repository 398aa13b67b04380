import { ERRNO } from "../../errno.ts";
import { close } from "../io-calls.ts";
import { allocateNative, type NativeMemory, putPointer } from "../native-memory.ts";
import { checked } from "../system-error.ts";
import { ATTRIBUTE_BYTES, bpf, putName } from "./bpf-call.ts";
import { BPF_COMMAND } from "./bpf-numbers.ts";
import { callBatch, type MapEntry, MOST_IN_A_BATCH, readBatches } from "./map-batches.ts";

export interface BpfMapSizes {
  readonly keyBytes: number;
  /** What a look-up gives: of maps by processor, the values of all of them. */
  readonly valueBytes: number;
}

export interface BpfMapOptions {
  /** Up to 15 letters, for those who list the maps of a machine. */
  readonly name: string;
  readonly type: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  readonly maxEntries: number;
  readonly flags?: number;
}

/** Where the bytes of an entry belong. */
export interface EntryPlace {
  readonly keys: Uint8Array;
  readonly keyAt: number;
  readonly values: Uint8Array;
  readonly valueAt: number;
}

/** Where in the arguments of a command a field is. */
const CREATE = {
  type: 0,
  keyBytes: 4,
  valueBytes: 8,
  maxEntries: 12,
  flags: 16,
  name: 28,
} as const;
const ELEMENT = { map: 0, key: 8, value: 16, bytes: 32 } as const;

/** BPF_MAP_CREATE of bpf(2): a descriptor. @throws CoreError ERR_SYSTEM_CALL */
export function createMap(options: BpfMapOptions): number {
  const attributes = allocateNative(ATTRIBUTE_BYTES);
  const { view } = attributes;
  view.setUint32(CREATE.type, options.type, true);
  view.setUint32(CREATE.keyBytes, options.keyBytes, true);
  view.setUint32(CREATE.valueBytes, options.valueBytes, true);
  view.setUint32(CREATE.maxEntries, options.maxEntries, true);
  view.setUint32(CREATE.flags, options.flags ?? 0, true);
  putName(attributes, CREATE.name, options.name);
  return checked("bpf", bpf(BPF_COMMAND.mapCreate, attributes), `map ${options.name}`);
}

/** The entries of a map of the kernel that this process holds: bpf(2). */
export class BpfMap {
  readonly descriptor: number;
  readonly #sizes: BpfMapSizes;
  readonly #attributes = allocateNative(ATTRIBUTE_BYTES);
  readonly #key: NativeMemory;
  readonly #value: NativeMemory;

  constructor(descriptor: number, sizes: BpfMapSizes) {
    this.descriptor = descriptor;
    this.#sizes = sizes;
    this.#key = allocateNative(sizes.keyBytes);
    // The next key is written there, too.
    this.#value = allocateNative(Math.max(sizes.keyBytes, sizes.valueBytes));
  }

  /** Replaces the value of a key in one step, or adds it. @throws CoreError ERR_SYSTEM_CALL */
  set(key: Uint8Array, value: Uint8Array): void {
    this.#value.bytes.set(value);
    checked("bpf", this.#call(BPF_COMMAND.mapUpdate, key), "an update of a map");
  }

  /** Undefined where it is absent. @throws CoreError ERR_SYSTEM_CALL */
  get(key: Uint8Array): Uint8Array | undefined {
    const result = this.#call(BPF_COMMAND.mapLookup, key);
    if (result === -ERRNO.ENOENT) return undefined;
    checked("bpf", result, "a look-up in a map");
    return this.#value.bytes.slice(0, this.#sizes.valueBytes);
  }

  /** Succeeds where it is absent. @throws CoreError ERR_SYSTEM_CALL */
  delete(key: Uint8Array): void {
    const result = this.#call(BPF_COMMAND.mapDelete, key);
    if (result !== -ERRNO.ENOENT) checked("bpf", result, "a removal from a map");
  }

  /** All keys as they are met; what changes meanwhile may be missed. @throws CoreError ERR_SYSTEM_CALL */
  *keys(): Generator<Uint8Array> {
    let before: Uint8Array | undefined;
    for (;;) {
      const result = this.#call(BPF_COMMAND.mapNextKey, before);
      if (result === -ERRNO.ENOENT) return;
      checked("bpf", result, "a walk over a map");
      before = this.#value.bytes.slice(0, this.#sizes.keyBytes);
      yield before;
    }
  }

  /**
   * All entries of a hash map, in few calls; what comes or goes meanwhile may be missed.
   * @throws CoreError ERR_SYSTEM_CALL
   */
  entries(): Generator<MapEntry> {
    return this.#read(BPF_COMMAND.mapLookupBatch);
  }

  /**
   * The same, and each is removed in the moment in which it is read.
   * @throws CoreError ERR_SYSTEM_CALL; some may be gone then
   */
  takeAll(): readonly MapEntry[] {
    return [...this.#read(BPF_COMMAND.mapTakeBatch)];
  }

  /** As `set` for each, in few calls. @throws CoreError ERR_SYSTEM_CALL; some may be there then */
  setAll(entries: readonly MapEntry[]): void {
    this.writeAll(entries, ([key, value], place) => {
      place.keys.set(key, place.keyAt);
      place.values.set(value, place.valueAt);
    });
  }

  /**
   * The same of things that `write` puts straight where the kernel reads them: for many at once. What
   * it leaves out is 0.
   */
  writeAll<T>(all: readonly T[], write: (one: T, place: EntryPlace) => void): void {
    const { keyBytes, valueBytes } = this.#sizes;
    for (const batch of batchesOf(all)) {
      const keys = allocateNative(batch.length * keyBytes);
      const values = allocateNative(batch.length * valueBytes);
      const place = { keys: keys.bytes, keyAt: 0, values: values.bytes, valueAt: 0 };
      for (const one of batch) {
        write(one, place);
        place.keyAt += keyBytes;
        place.valueAt += valueBytes;
      }
      const { result } = callBatch(BPF_COMMAND.mapUpdateBatch, this.#attributes, {
        map: this.descriptor,
        keys,
        values,
        count: batch.length,
      });
      checked("bpf", result, "an update of a map");
    }
  }

  /** As `delete` for each, in few calls. @throws CoreError ERR_SYSTEM_CALL */
  deleteAll(keys: readonly Uint8Array[]): void {
    for (const batch of batchesOf(keys)) {
      for (let rest = batch; rest.length > 0; ) {
        const { result, done } = callBatch(BPF_COMMAND.mapDeleteBatch, this.#attributes, {
          map: this.descriptor,
          keys: this.#joined(rest),
          count: rest.length,
        });
        if (result !== -ERRNO.ENOENT) checked("bpf", result, "a removal from a map");
        // It ends at the first that is absent.
        rest = result === -ERRNO.ENOENT ? rest.slice(done + 1) : [];
      }
    }
  }

  close(): void {
    close(this.descriptor);
  }

  #call(command: number, key: Uint8Array | undefined): number {
    const { view } = this.#attributes;
    if (key !== undefined) this.#key.bytes.set(key);
    this.#attributes.bytes.fill(0);
    view.setUint32(ELEMENT.map, this.descriptor, true);
    putPointer(view, ELEMENT.key, key === undefined ? 0 : this.#key.address);
    // A removal is refused where there is one.
    const value = command === BPF_COMMAND.mapDelete ? 0 : this.#value.address;
    putPointer(view, ELEMENT.value, value);
    return bpf(command, this.#attributes, ELEMENT.bytes);
  }

  #read(command: number): Generator<MapEntry> {
    return readBatches({ ...this.#sizes, map: this.descriptor, command });
  }

  #joined(parts: readonly Uint8Array[]): NativeMemory {
    const partBytes = parts[0]?.length ?? 0;
    const memory = allocateNative(Math.max(1, parts.length * partBytes));
    for (const [index, part] of parts.entries()) memory.bytes.set(part, index * partBytes);
    return memory;
  }
}

function* batchesOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += MOST_IN_A_BATCH) {
    yield all.slice(from, from + MOST_IN_A_BATCH);
  }
}
