/** Numbers of linux/bpf.h, by the names that bpf(2) and bpf-helpers(7) give them. */

export const BPF_COMMAND = {
  mapCreate: 0,
  mapLookup: 1,
  mapUpdate: 2,
  mapDelete: 3,
  mapNextKey: 4,
  programLoad: 5,
  programTestRun: 10,
  programById: 13,
  mapById: 14,
  objectInfo: 15,
  programQuery: 16,
  mapUpdateBatch: 26,
  mapDeleteBatch: 27,
  linkCreate: 28,
} as const;

export const MAP_TYPE = {
  hash: 1,
  array: 2,
  perCpuArray: 6,
  lruHash: 9,
  lpmTrie: 11,
} as const;

/** Memory is taken entry by entry, not all at once. */
export const BPF_F_NO_PREALLOC = 1;
/** An array that a process can map. */
export const BPF_F_MMAPABLE = 0x400;

export const PROGRAM_TYPE = {
  schedClassifier: 3,
  cgroupSockAddr: 18,
} as const;

export const ATTACH_TYPE = {
  connect4: 10,
  connect6: 11,
  getpeername4: 29,
  getpeername6: 30,
  tcxIngress: 46,
  tcxEgress: 47,
} as const;

/** Functions of the kernel that programs call: bpf-helpers(7). */
export const HELPER = {
  mapLookup: 1,
  mapUpdate: 2,
  mapDelete: 3,
  random: 7,
  socketCookie: 46,
  namespaceCookie: 122,
} as const;

/** BPF_OBJ_NAME_LEN, with the zero at the end. */
export const NAME_BYTES = 16;
