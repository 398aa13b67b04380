import { BpfMap, type BpfMapOptions, createMap } from "../bpf/bpf-map.ts";
import { BPF_F_NO_PREALLOC, MAP_TYPE } from "../bpf/bpf-numbers.ts";
import { possibleProcessors } from "../possible-processors.ts";
import type { DirectMapDescriptors } from "./connect-program.ts";
import { type DirectPlane, MOST_FRONTENDS, MOST_SLOTS } from "./direct-plane.ts";
import {
  COUNTER,
  FRONTEND,
  frontendKey,
  NAMESPACE,
  type NumberedSlot,
  ORIGIN,
  putFrontend,
  putSlot,
  SLOT,
  slotKey,
} from "./layout.ts";

/** Sockets whose owners may ask where they are connected to; the oldest are forgotten beyond that. */
const MOST_ORIGINS = 32_768;

const SPARING = { type: MAP_TYPE.hash, flags: BPF_F_NO_PREALLOC } as const;

/** Maps of the kernel for the programs to use. */
export interface DirectMaps {
  readonly descriptors: DirectMapDescriptors;
  /** Entries and counts, without what keeps the programs where they are. */
  readonly entries: Omit<DirectPlane, "close" | "isAttached">;
  close(): void;
}

/** @throws CoreError ERR_SYSTEM_CALL */
export function createDirectMaps(cookie: bigint): DirectMaps {
  const open: BpfMap[] = [];
  const close = () => {
    for (const map of open.splice(0)) map.close();
  };
  const create = (name: string, options: Omit<BpfMapOptions, "name">, lookupBytes?: number) => {
    const descriptor = createMap({ name: `portolan_${name}`, ...options });
    const { keyBytes, valueBytes } = options;
    const map = new BpfMap(descriptor, { keyBytes, valueBytes: lookupBytes ?? valueBytes });
    open.push(map);
    return map;
  };
  try {
    const namespace = create("netns", { type: MAP_TYPE.array, maxEntries: 1, ...NAMESPACE });
    namespace.set(new Uint8Array(NAMESPACE.keyBytes), cookieValue(cookie));
    const frontends = create("front", { ...SPARING, ...FRONTEND, maxEntries: MOST_FRONTENDS });
    const slots = create("slots", { ...SPARING, ...SLOT, maxEntries: MOST_SLOTS });
    const origin = { type: MAP_TYPE.lruHash, ...ORIGIN, maxEntries: MOST_ORIGINS };
    const counter = { type: MAP_TYPE.perCpuArray, ...COUNTER, maxEntries: COUNTER.count };
    const origins = create("asked", origin);
    const counters = create("count", counter, possibleProcessors() * COUNTER.valueBytes);
    const descriptors = {
      namespace: namespace.descriptor,
      frontends: frontends.descriptor,
      slots: slots.descriptor,
      origins: origins.descriptor,
      counters: counters.descriptor,
    };
    return { descriptors, entries: entriesOf(frontends, slots, counters), close };
  } catch (error) {
    close();
    throw error;
  }
}

function entriesOf(frontends: BpfMap, slots: BpfMap, counters: BpfMap): DirectMaps["entries"] {
  return {
    writeSlots: (lists) => {
      const numbered: NumberedSlot[] = [];
      for (const { id: list, slots: own } of lists) {
        for (const [number, slot] of own.entries()) numbered.push({ list, number, slot });
      }
      slots.writeAll(numbered, putSlot);
    },
    setFrontends: (all) => frontends.writeAll(all, putFrontend),
    removeFrontends: (places) => frontends.deleteAll(places.map(frontendKey)),
    removeSlots: (lists) =>
      slots.deleteAll(
        lists.flatMap(({ list, slotCount }) =>
          Array.from({ length: slotCount }, (_, index) => slotKey(list, index)),
        ),
      ),
    counts: () => ({
      translated: total(counters, COUNTER.translated),
      missed: total(counters, COUNTER.missed),
    }),
  };
}

function total(counters: BpfMap, index: number): number {
  const key = new Uint8Array(COUNTER.keyBytes);
  key[0] = index;
  const values = counters.get(key);
  if (values === undefined) return 0;
  let sum = 0n;
  for (const value of new BigUint64Array(values.buffer)) sum += value;
  return Number(sum);
}

function cookieValue(cookie: bigint): Uint8Array {
  const bytes = new Uint8Array(NAMESPACE.valueBytes);
  new DataView(bytes.buffer).setBigUint64(0, cookie, true);
  return bytes;
}
