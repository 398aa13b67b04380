import { FAMILIES, type Family } from "../../../core/model/address.ts";
import { BpfMap, type BpfMapOptions, createMap } from "../bpf/bpf-map.ts";
import { BPF_F_NO_PREALLOC, MAP_TYPE } from "../bpf/bpf-numbers.ts";
import { possibleProcessors } from "../possible-processors.ts";
import type { FastFlow, TakenFlow } from "./fast-flow.ts";
import { MOST_TAKEN } from "./fast-plane.ts";
import { COUNTS, FLOW_BYTES, LEASE, TRAIL } from "./layout.ts";
import type { FastMapDescriptors } from "./program-parts.ts";

/** The ones that were proposed first are forgotten beyond that; they are proposed again. */
const MOST_SEEN = 1024;
const MOST_LINKS = 4096;
const NUMBER_BYTES = 4;

/** Maps of the kernel that the programs use. All calls throw CoreError ERR_SYSTEM_CALL. */
export class FastMaps {
  readonly descriptors: FastMapDescriptors;
  readonly #open: BpfMap[] = [];
  readonly #flows: Readonly<Record<Family, BpfMap>>;
  readonly #seen: Readonly<Record<Family, BpfMap>>;
  readonly #mtus: BpfMap;
  readonly #counts: BpfMap;

  constructor() {
    try {
      this.#flows = { v4: this.#createFlows("v4"), v6: this.#createFlows("v6") };
      this.#seen = { v4: this.#createSeen("v4"), v6: this.#createSeen("v6") };
      const number = { keyBytes: NUMBER_BYTES, valueBytes: NUMBER_BYTES };
      this.#mtus = this.#create("mtus", { type: MAP_TYPE.hash, ...number, maxEntries: MOST_LINKS });
      const trail = this.#createOwn("trail", TRAIL.bytes);
      this.#counts = this.#createOwn("counts", COUNTS.bytes);
      this.descriptors = {
        flows: { v4: this.#flows.v4.descriptor, v6: this.#flows.v6.descriptor },
        seen: { v4: this.#seen.v4.descriptor, v6: this.#seen.v6.descriptor },
        mtus: this.#mtus.descriptor,
        trail: trail.descriptor,
        counts: this.#counts.descriptor,
      };
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Those that were proposed since the last time. */
  takeSeen(): readonly FastFlow[] {
    return FAMILIES.flatMap((family) =>
      this.#seen[family].takeAll().map(([key, value]) => ({ family, key, value })),
    );
  }

  taken(): readonly TakenFlow[] {
    return FAMILIES.flatMap((family) =>
      [...this.#flows[family].entries()].map(([key, all]) => takenFlow(family, key, all)),
    );
  }

  isTaken({ family, key }: Pick<FastFlow, "family" | "key">): boolean {
    return this.#flows[family].get(key) !== undefined;
  }

  /**
   * It takes the path as soon as the rules have agreed to another packet of it. One that takes it already, since it
   * was proposed again meanwhile, goes on.
   */
  admit({ family, key, value }: FastFlow, nowNs: bigint): void {
    if (this.isTaken({ family, key })) return;
    const all = new Uint8Array(FLOW_BYTES[family].valueAndLease);
    all.set(value);
    const at = FLOW_BYTES[family].lease + LEASE.untilNs;
    new DataView(all.buffer).setBigUint64(at, nowNs, true);
    this.#flows[family].set(key, all);
  }

  /** Those that are absent are no error. */
  remove(flows: readonly FastFlow[]): void {
    for (const family of FAMILIES) {
      const own = flows.filter((flow) => flow.family === family);
      this.#flows[family].deleteAll(own.map(({ key }) => key));
    }
  }

  setMtu(link: number, mtu: number): void {
    this.#mtus.set(numberBytes(link), numberBytes(mtu));
  }

  removeMtu(link: number): void {
    this.#mtus.delete(numberBytes(link));
  }

  /** How many packets took the path. */
  passed(): number {
    const values = this.#counts.get(numberBytes(0)) ?? new Uint8Array();
    const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
    let sum = 0n;
    for (let at = 0; at < values.length; at += COUNTS.bytes) {
      sum += view.getBigUint64(at + COUNTS.passed, true);
    }
    return Number(sum);
  }

  close(): void {
    for (const map of this.#open.splice(0)) map.close();
  }

  #createFlows(family: Family): BpfMap {
    const { key: keyBytes, valueAndLease: valueBytes } = FLOW_BYTES[family];
    const options = { type: MAP_TYPE.hash, keyBytes, valueBytes, maxEntries: MOST_TAKEN };
    return this.#create(`flows_${family}`, { ...options, flags: BPF_F_NO_PREALLOC });
  }

  #createSeen(family: Family): BpfMap {
    const { key: keyBytes, value: valueBytes } = FLOW_BYTES[family];
    const options = { type: MAP_TYPE.lruHash, keyBytes, valueBytes, maxEntries: MOST_SEEN };
    return this.#create(`seen_${family}`, options);
  }

  /** One value for each processor. */
  #createOwn(name: string, valueBytes: number): BpfMap {
    const type = MAP_TYPE.perCpuArray;
    const options = { type, keyBytes: NUMBER_BYTES, valueBytes, maxEntries: 1 };
    return this.#create(name, options, possibleProcessors() * valueBytes);
  }

  #create(name: string, options: Omit<BpfMapOptions, "name">, lookupBytes?: number): BpfMap {
    const descriptor = createMap({ name: `ptl_${name}`, ...options });
    const { keyBytes, valueBytes } = options;
    const map = new BpfMap(descriptor, { keyBytes, valueBytes: lookupBytes ?? valueBytes });
    this.#open.push(map);
    return map;
  }
}

function takenFlow(family: Family, key: Uint8Array, all: Uint8Array): TakenFlow {
  const { value: valueBytes, lease } = FLOW_BYTES[family];
  const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
  return {
    family,
    key,
    value: all.subarray(0, valueBytes),
    untilNs: view.getBigUint64(lease + LEASE.untilNs, true),
    end: view.getUint32(lease + LEASE.end, true),
    acknowledged: view.getUint32(lease + LEASE.acknowledged, true),
  };
}

function numberBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(NUMBER_BYTES);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}
