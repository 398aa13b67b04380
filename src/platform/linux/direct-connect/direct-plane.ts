/** An address and port. */
export interface Place {
  readonly ip: string;
  readonly port: number;
}

/** One of the slots of a list: below the threshold, of 2^32, the first one is meant, else the other. */
export interface Slot {
  readonly threshold: number;
  readonly first: Place;
  readonly other: Place;
}

/** The slots of a list; its number is never given again. */
export interface SlotList {
  readonly id: number;
  readonly slots: readonly Slot[];
}

/** The address of a service, and the list that its callers choose from. */
export interface DirectFrontend {
  readonly place: Place;
  readonly list: number;
  readonly slotCount: number;
}

/** Connections so far. */
export interface DirectCounts {
  /** Those that were given the address of an endpoint. */
  readonly translated: number;
  /** Those that met a list which just went, and were left to the rules. */
  readonly missed: number;
}

/** Whose processes are led: folders of the cgroups of version 2. */
export interface DirectCgroups {
  /** Those in the network namespace of this process; undefined: of all cgroups that are mounted here. */
  readonly node: string | undefined;
  /** Those in other namespaces; undefined: nobody's. */
  readonly workloads: string | undefined;
}

/** More than this the maps do not hold. */
export const MOST_FRONTENDS = 65_536;
export const MOST_SLOTS = 262_144;

/**
 * What programs of the kernel exchange at connect(2) for the processes of cgroups. All of it ends when it is closed, and when the process ends. Calls throw CoreError
 * ERR_SYSTEM_CALL; what they were to write may be there in parts then.
 */
export interface DirectPlane {
  writeSlots(lists: readonly SlotList[]): void;
  /** Each in one step: who calls meanwhile meets the old list or the new one. */
  setFrontends(frontends: readonly DirectFrontend[]): void;
  /** Those that are absent are no error; so with slots. */
  removeFrontends(places: readonly Place[]): void;
  removeSlots(lists: readonly Pick<DirectFrontend, "list" | "slotCount">[]): void;
  counts(): DirectCounts;
  /** Whether the programs are where they were put: they end with the cgroup, and others may take them out. */
  isAttached(): boolean;
  close(): void;
}
