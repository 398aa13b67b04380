import ipaddr from "ipaddr.js";

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

/** A place is 16 bytes of address, IPv4 as it is mapped into IPv6, then the port as packets have it. */
export const ADDRESS_BYTES = 16;
export const PLACE_BYTES = 20;
const PORT = ADDRESS_BYTES;

/** What the entries of the maps hold, and where. */
export const FRONTEND = { keyBytes: 20, list: 0, slotCount: 4, valueBytes: 8 } as const;
export const SLOT = {
  list: 0,
  slot: 4,
  keyBytes: 8,
  threshold: 0,
  first: 4,
  other: 24,
  valueBytes: 44,
} as const;
/** By the number of a socket: where it wanted to go, and where it was sent. */
export const ORIGIN = { keyBytes: 8, asked: 0, given: 20, valueBytes: 40 } as const;
export const NAMESPACE = { keyBytes: 4, valueBytes: 8 } as const;
export const COUNTER = { keyBytes: 4, valueBytes: 8, translated: 0, missed: 1, count: 2 } as const;

export function frontendKey(place: Place): Uint8Array {
  const bytes = new Uint8Array(FRONTEND.keyBytes);
  putPlace(bytes, 0, place);
  return bytes;
}

export function frontendValue(list: number, slotCount: number): Uint8Array {
  return words(list, slotCount);
}

export function slotKey(list: number, slot: number): Uint8Array {
  return words(list, slot);
}

export function slotValue({ threshold, first, other }: Slot): Uint8Array {
  const bytes = new Uint8Array(SLOT.valueBytes);
  new DataView(bytes.buffer).setUint32(SLOT.threshold, threshold, true);
  putPlace(bytes, SLOT.first, first);
  putPlace(bytes, SLOT.other, other);
  return bytes;
}

function words(first: number, second: number): Uint8Array {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, first, true);
  view.setUint32(4, second, true);
  return bytes;
}

function putPlace(bytes: Uint8Array, at: number, { ip, port }: Place): void {
  const address = ipaddr.parse(ip);
  const mapped = address.kind() === "ipv4" ? [0xff, 0xff, ...address.toByteArray()] : undefined;
  const own = mapped ?? address.toByteArray();
  bytes.set(own, at + ADDRESS_BYTES - own.length);
  new DataView(bytes.buffer).setUint16(at + PORT, port);
}
