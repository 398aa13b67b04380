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
  mapLookupBatch: 24,
  /** A look-up and a removal in one. */
  mapTakeBatch: 25,
  mapUpdateBatch: 26,
  mapDeleteBatch: 27,
  linkCreate: 28,
  linkById: 30,
  linkNextId: 31,
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
/** Its memory can be mapped. */
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
  monotonicNs: 5,
  random: 7,
  storeBytes: 9,
  replaceSum: 11,
  cloneRedirect: 13,
  pushVlan: 18,
  redirect: 23,
  loadBytes: 26,
  checksumDifference: 28,
  changeProtocol: 31,
  changeTail: 38,
  updateSum: 40,
  changeHead: 43,
  socketCookie: 46,
  adjustRoom: 50,
  namespaceCookie: 122,
  redirectToNeighbour: 152,
  coarseNs: 160,
} as const;

/** struct __sk_buff, which programs for packets are given: where a field is. */
export const PACKET_CONTEXT = {
  byteCount: 0,
  /** 0 where it is for this machine: linux/if_packet.h. */
  packetType: 4,
  mark: 8,
  protocol: 16,
  hasVlan: 20,
  priority: 32,
  /** Number of the link that it came by; 0 where this machine made it. */
  cameBy: 36,
  link: 40,
  data: 76,
  dataEnd: 80,
  gsoBytes: 176,
  bytes: 192,
} as const;

/** What such a program returns. */
export const VERDICT = {
  /** The next program decides, or the kernel where there is none. */
  next: -1,
  drop: 2,
  /** What `redirect` and its like return. */
  redirect: 7,
} as const;

/** BPF_OBJ_NAME_LEN, with the zero at the end. */
export const NAME_BYTES = 16;
