import { BpfMap, createMap } from "../../platform/linux/bpf/bpf-map.ts";
import { type MappedMemory, mapMemory } from "../../platform/linux/mapped-memory.ts";
import { numberBytes } from "./entries.ts";
import { COUNTS, type KernelPathMaps, RECORD } from "./layout.ts";
import { COUNT_BYTES, type MapName, mapSpecs, ofEachMap, RECORD_COUNT } from "./map-specs.ts";

/** What is done with a map from here. All throw CoreError ERR_SYSTEM_CALL. */
export interface KernelMap {
  set(key: Uint8Array, value: Uint8Array): void;
  get(key: Uint8Array): Uint8Array | undefined;
  /** Succeeds where it is absent. */
  delete(key: Uint8Array): void;
}

/** The maps of a kernel path, and the memory of its records. */
export interface KernelMaps {
  readonly maps: Readonly<Record<MapName, KernelMap>>;
  readonly records: ArrayBufferLike;
  readonly recordCount: number;
  /** By the numbers of COUNTS, of all processors. */
  counts(): readonly number[];
  /** Nobody may touch a record after it. */
  close(): void;
}

/** NR_CPUS is never more. A look-up writes nothing for those that are not there. */
const MOST_PROCESSORS = 8192;
const PAGE_BYTES = 4096;

/** Those of the kernel. They are there as long as this process holds them, or a program does. */
export class BpfKernelMaps implements KernelMaps {
  readonly maps: Readonly<Record<MapName, BpfMap>>;
  readonly recordCount: number = RECORD_COUNT;
  readonly #memory: MappedMemory;

  /** @throws CoreError ERR_SYSTEM_CALL */
  constructor(options: { readonly maxFlows: number; readonly scratchBytes: number }) {
    const specs = mapSpecs(options.maxFlows, options.scratchBytes);
    const made: BpfMap[] = [];
    try {
      this.maps = ofEachMap((name) => {
        const map = createMapOf(name, specs);
        made.push(map);
        return map;
      });
      const byteCount = Math.ceil((RECORD.bytes * RECORD_COUNT) / PAGE_BYTES) * PAGE_BYTES;
      this.#memory = mapMemory(this.maps.records.descriptor, byteCount);
    } catch (error) {
      for (const map of made) map.close();
      throw error;
    }
  }

  get descriptors(): KernelPathMaps {
    return ofEachMap((name) => this.maps[name].descriptor);
  }

  get records(): ArrayBufferLike {
    return this.#memory.buffer;
  }

  counts(): readonly number[] {
    return Array.from({ length: COUNTS.count }, (_, number) => {
      const value = this.maps.counts.get(numberBytes(number));
      const byProcessor = new BigUint64Array(value?.buffer ?? new ArrayBuffer(0));
      return Number(byProcessor.reduce((sum, one) => sum + one, 0n));
    });
  }

  close(): void {
    this.#memory.close();
    for (const map of Object.values(this.maps)) map.close();
  }
}

function createMapOf(name: MapName, specs: ReturnType<typeof mapSpecs>): BpfMap {
  const spec = specs[name];
  const descriptor = createMap({ name: `portolan_${name}`, ...spec });
  const valueBytes = name === "counts" ? COUNT_BYTES * MOST_PROCESSORS : spec.valueBytes;
  return new BpfMap(descriptor, { keyBytes: spec.keyBytes, valueBytes });
}
