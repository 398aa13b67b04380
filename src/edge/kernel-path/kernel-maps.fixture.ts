import { CoreError } from "../../core/errors.ts";
import type { KernelMap, KernelMaps } from "./kernel-maps.ts";
import { COUNTS, RECORD } from "./layout.ts";
import { type MapName, mapSpecs, ofEachMap } from "./map-specs.ts";

/** A map as the kernel has it: bounded, and particular about lengths. */
export class FakeMap implements KernelMap {
  /** By keys in hexadecimal digits. */
  readonly entries: Map<string, Uint8Array> = new Map();
  /** What was done, in order: `set KEY`, `delete KEY`. */
  readonly done: string[];
  maxEntries: number;
  readonly #name: string;
  readonly #keyBytes: number;
  readonly #valueBytes: number;

  constructor(
    name: string,
    sizes: { readonly keyBytes: number; readonly valueBytes: number; readonly maxEntries: number },
    done: string[],
  ) {
    this.#name = name;
    this.#keyBytes = sizes.keyBytes;
    this.#valueBytes = sizes.valueBytes;
    this.maxEntries = sizes.maxEntries;
    this.done = done;
  }

  set(key: Uint8Array, value: Uint8Array): void {
    const text = this.#text(key);
    if (value.length !== this.#valueBytes) throw new Error(`a value of ${value.length} bytes`);
    if (!this.entries.has(text) && this.entries.size >= this.maxEntries) {
      throw new CoreError("ERR_SYSTEM_CALL", "bpf of an update of a map failed: E2BIG");
    }
    this.entries.set(text, value.slice());
    this.done.push(`set ${this.#name} ${text}`);
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.entries.get(this.#text(key))?.slice();
  }

  delete(key: Uint8Array): void {
    const text = this.#text(key);
    if (this.entries.delete(text)) this.done.push(`delete ${this.#name} ${text}`);
  }

  #text(key: Uint8Array): string {
    if (key.length !== this.#keyBytes) throw new Error(`a key of ${key.length} bytes`);
    return Buffer.from(key).toString("hex");
  }
}

/** The maps of a kernel path without a kernel. */
export class FakeKernelMaps implements KernelMaps {
  readonly done: string[] = [];
  readonly maps: Readonly<Record<MapName, FakeMap>>;
  readonly recordCount: number;
  readonly records: ArrayBuffer;
  readonly counted: number[] = new Array<number>(COUNTS.count).fill(0);
  isClosed = false;

  constructor(recordCount = 8, maxFlows = 16) {
    const specs = mapSpecs(maxFlows, 64);
    this.maps = ofEachMap((name) => new FakeMap(name, specs[name], this.done));
    this.recordCount = recordCount;
    this.records = new ArrayBuffer(recordCount * RECORD.bytes);
  }

  counts(): readonly number[] {
    return [...this.counted];
  }

  close(): void {
    this.isClosed = true;
  }
}
