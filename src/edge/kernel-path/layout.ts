/**
 * What the programs of the kernel path read and write, and how it lies in the maps that they share with the
 * tunnel. Addresses and ports are as on the wire, an address of IPv4 in the last four bytes of sixteen behind zeros;
 * other numbers are of the machine, little-endian. Maps that hold more than one number are hashes: an entry of
 * them is replaced in one step. But the memory of one that is removed is another one's at once, also while a program
 * reads it: values with keys end with a `check`, by which what was read is known to be of one entry, and of the
 * right one (see `checkOf`). Else a counter would be used with a key that it does not belong to.
 */

/** Packets up to this length take the kernel path, as long as they are one packet each. */
export const MAX_SHORT_BYTES = 512;

/** One direction of a flow, as its packets look when they come. Of an echo as `IpPacket.ports` has it. */
export const FLOW_KEY = {
  source: 0,
  destination: 16,
  sourcePort: 32,
  destinationPort: 34,
  protocol: 36,
  isV6: 37,
  bytes: 40,
} as const;

/**
 * All flows of the tunnel are there, so that what is not there is no packet of a flow. `isOpen`: both ends have been
 * heard, and packets may pass here; until then, and where it ends, the tunnel sees to them.
 */
export const FLOW_VALUE = {
  source: 0,
  destination: 16,
  sourcePort: 32,
  destinationPort: 34,
  isBack: 36,
  isOpen: 37,
  /** Where the way to the server leads to: see PLACE_VALUE. */
  place: 40,
  /** Since the machine started, in nanoseconds: written by the programs. */
  lastUsedNs: 48,
  bytes: 56,
} as const;

/** By the number of a place: the number of its peer. Missing where it is this node, or gone. */
export const PLACE_VALUE = { peer: 0, bytes: 4 } as const;

/** Networks of workloads: prefixes as LPM tries have them, with the number of a peer or THIS_NODE. */
export const ROUTE_KEY = { prefix: 0, address: 4, v4Bytes: 8, v6Bytes: 20 } as const;
export const ROUTE_VALUE = { peer: 0, bytes: 4 } as const;
export const THIS_NODE = 0xffff_ffff;

export const MODE_FAST = 1;
export const MODE_SECURE = 2;

/** By the number of a peer: how it is sent to. Missing where the tunnel has to see to it. */
export const PEER_VALUE = {
  mode: 0,
  /** The number of the network interface. */
  link: 4,
  localIp: 8,
  remoteIp: 12,
  localPort: 16,
  remotePort: 18,
  /** As it is written in datagrams. */
  receiver: 20,
  record: 24,
  sealingKey: 32,
  check: 64,
  bytes: 72,
} as const;

/** By what a datagram says, and where it comes from: who sent it. */
export const SENDER_KEY = { receiver: 0, remoteIp: 4, remotePort: 8, bytes: 12 } as const;
export const SENDER_VALUE = {
  mode: 0,
  peer: 4,
  localIp: 8,
  record: 12,
  openingKey: 16,
  check: 48,
  bytes: 56,
} as const;

/** How many counters behind the newest one are still told apart; each has a place by its lowest bits. */
export const TAKEN_COUNT = 2048;
/** More than so many behind the newest is too old. */
export const WINDOW = 2016;
/** Counters up to here are given and taken by the programs; what is beyond is the tunnel's to end. */
export const MAX_COUNTER = 0x4000_0000;

/**
 * Of a session, in memory that the tunnel has mapped: both sides count and take with atomic operations, so no
 * counter is given twice and none is taken twice. `greatest` and `taken` hold counters with 1 added; a counter is
 * taken by exchanging a smaller one in its place for it.
 */
export const RECORD = {
  counter: 0,
  greatest: 4,
  /** When a datagram of the sender was last left to the tunnel because of its length. */
  slowNs: 8,
  bytesOut: 16,
  bytesIn: 24,
  packetsOut: 32,
  packetsIn: 40,
  /** The counter of a datagram that was left to the tunnel, or is being looked at here, with 1 added. */
  leftCounter: 48,
  leftNs: 56,
  taken: 64,
  bytes: 8256,
} as const;

/** In the one entry of an array. */
export const SETTING = {
  /** 0: everything is left to the tunnel. */
  isOn: 0,
  /** The number of the TUN. */
  tun: 4,
  localPort: 8,
  bytes: 16,
} as const;

/** By processor; told as metrics. */
export const COUNTS = {
  /** Sent to peers, and given to workloads. */
  sent: 0,
  received: 1,
  /** Not genuine, or come before. */
  refused: 2,
  /** Lost, as the kernel did not give the room for it. */
  failed: 3,
  count: 4,
} as const;

/** After a packet that was left to the tunnel, those of its flow that are sent follow it for so long: none overtakes. */
export const FOLLOW_FLOW_NS = 30_000_000;
/** The same for all datagrams of a sender. */
export const FOLLOW_SENDER_NS = 10_000_000;
/**
 * Sealed ones follow all that was left to the tunnel until it has taken that, and at most so long, as it may be lost.
 * Those that still wait for a busy tunnel would be too old for the window, once newer ones are taken here.
 */
export const FOLLOW_TAKEN_NS = 500_000_000;

/** The maps, by descriptors. */
export interface KernelPathMaps {
  /** Array of one SETTING. */
  readonly setting: number;
  /** Hash of FLOW_KEY. */
  readonly flows: number;
  /** LRU hash of FLOW_KEY to nanoseconds (8 bytes): when a packet of it was last left to the tunnel. */
  readonly slow: number;
  /** Hash of numbers (4 bytes). */
  readonly places: number;
  readonly peers: number;
  /** LPM tries. */
  readonly routesV4: number;
  readonly routesV6: number;
  /** Hash of SENDER_KEY. */
  readonly senders: number;
  /** Array of RECORD that can be mapped. */
  readonly records: number;
  /** Array by processor, of COUNTS (8 bytes each). */
  readonly counts: number;
  /** Array by processor: two entries of `SCRATCH_BYTES`. */
  readonly scratch: number;
}
