/** The bytes of what the programs of the fast path share, and where headers have what they read. */
import type { Family } from "../../../core/model/address.ts";

/** How long a direction of a connection takes the path: then one packet goes by the rules again. */
export const LEASE_NS = 1_000_000_000n;

/** Hardware addresses, of the receiver and of the sender; then the protocol. */
export const ETHERNET = { macs: 0, type: 12, bytes: 14 } as const;

/** From the header of TCP on; ports: source, then destination. */
export const TCP = {
  ports: 0,
  sequence: 4,
  acknowledged: 8,
  /** Its length in words of four bytes, in the high half of a byte; flags; window. */
  lengthAndWindow: 12,
  flags: 13,
  checksum: 16,
  bytes: 20,
} as const;
/** FIN, SYN, RST: a connection begins or ends. */
export const TURNING_FLAGS = 0x07;
export const TCP_FLAG = { fin: 0x01, rst: 0x04, ack: 0x10 } as const;

/** Where a packet has what, from the header of Ethernet on. Words are as memory has them, the low byte first. */
export interface HeaderPlaces {
  readonly etherType: number;
  /** The first byte has the version and, where that can differ, the length. */
  readonly first: number;
  readonly firstMask: number;
  readonly firstByte: number;
  readonly protocol: number;
  readonly hops: number;
  /** Source, then destination. */
  readonly addresses: number;
  readonly addressBytes: number;
  /** Two bytes: how long the packet is, from `lengthFrom` on. */
  readonly length: number;
  readonly lengthFrom: number;
  /** Words of four bytes that nobody changes on the way. */
  readonly constant: readonly [first: number, second: number];
  readonly tcp: number;
  readonly bytes: number;
}

const IP = ETHERNET.bytes;
const V4_BYTES = 20;
const V6_BYTES = 40;

export const HEADERS: Readonly<Record<Family, HeaderPlaces>> = {
  v4: {
    etherType: 0x0008,
    first: IP,
    firstMask: 0xff,
    // Without options.
    firstByte: 0x45,
    protocol: IP + 9,
    hops: IP + 8,
    length: IP + 2,
    lengthFrom: IP,
    addresses: IP + 12,
    addressBytes: 4,
    // Kind of service and length; number and fragment.
    constant: [IP, IP + 4],
    tcp: IP + V4_BYTES,
    bytes: IP + V4_BYTES + TCP.bytes,
  },
  v6: {
    etherType: 0xdd86,
    first: IP,
    firstMask: 0xf0,
    firstByte: 0x60,
    protocol: IP + 6,
    hops: IP + 7,
    length: IP + 4,
    lengthFrom: IP + V6_BYTES,
    addresses: IP + 8,
    addressBytes: 16,
    // Kind of service and label; the rest of that and the length.
    constant: [IP, IP + 2],
    tcp: IP + V6_BYTES,
    bytes: IP + V6_BYTES + TCP.bytes,
  },
};

/** Of IPv4: "more follow" and the place of a fragment. */
export const FRAGMENT: { readonly at: number; readonly bits: number } = {
  at: IP + 6,
  bits: 0xff3f,
};
export const V4_CHECKSUM: number = IP + 10;

/** A direction of a connection: the link that it comes by, and its ends as they come. */
export const KEY = { link: 0, ports: 4, addresses: 8 } as const;

/** How it leaves, and by which link, as the rules sent the packet that it was learned from. */
export const VALUE = {
  /** All other words of it and of its key: what is read of an entry is of that entry, or not used. */
  check: 0,
  link: 8,
  ports: 12,
  /** What the exchange of addresses, and that of ports, adds to a sum of the bytes. */
  addressSum: 16,
  portSum: 20,
  macs: 24,
  mtu: 36,
  /** The kernel's own, beside the bytes of a packet: linux/skbuff.h. */
  mark: 40,
  priority: 44,
  addresses: 48,
} as const;

/** What changes while a connection takes the path; behind its value, and not in the check. */
export const LEASE = {
  /** Of CLOCK_MONOTONIC_COARSE; 0: the rules have not agreed yet. */
  untilNs: 0,
  /** How far it is, and what it acknowledged: sequence numbers, as this machine writes them; 0: unknown. */
  end: 8,
  acknowledged: 12,
  bytes: 16,
} as const;

export interface FlowBytes {
  readonly key: number;
  /** Of those that are proposed. */
  readonly value: number;
  /** Where the lease of those that take the path begins. */
  readonly lease: number;
  readonly valueAndLease: number;
}

export const FLOW_BYTES: Readonly<Record<Family, FlowBytes>> = {
  v4: flowBytes("v4"),
  v6: flowBytes("v6"),
};

function flowBytes(family: Family): FlowBytes {
  const both = 2 * HEADERS[family].addressBytes;
  const value = VALUE.addresses + both;
  return { key: KEY.addresses + both, value, lease: value, valueAndLease: value + LEASE.bytes };
}

/** What a processor noted of the packet that it takes through the rules. */
export const TRAIL = {
  key: 0,
  /** 0: there is none. */
  length: 40,
  etherType: 44,
  constant: 48,
  sequence: 56,
  acknowledged: 60,
  lengthAndWindow: 64,
  hops: 68,
  /** Why it was noted: `PURPOSE`. */
  purpose: 72,
  bytes: 80,
} as const;

export const PURPOSE = {
  /** What the rules make of it is to be learned. */
  learn: 0,
  /** It is for the rules only, and goes no further. */
  decoy: 1,
} as const;

/** Counts of a processor. */
export const COUNTS = { passed: 0, bytes: 8 } as const;
