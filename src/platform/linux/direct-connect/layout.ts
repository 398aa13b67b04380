import ipaddr from "ipaddr.js";
import { familyOf } from "../../../core/model/address.ts";
import type { EntryPlace } from "../bpf/bpf-map.ts";
import type { DirectFrontend, Place, Slot } from "./direct-plane.ts";

/** A place is 16 bytes of address, IPv4 as it is mapped into IPv6, then the port as packets have it. */
export const ADDRESS_BYTES = 16;
export const PLACE_BYTES = 20;
const PORT = ADDRESS_BYTES;
/** Two bytes before an IPv4 address tell that it is one. */
const MAPPED_MARK = 10;
const DOT = 46;
const ZERO = 48;

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

export function putFrontend(
  { place, list, slotCount }: DirectFrontend,
  { keys, keyAt, values, valueAt }: EntryPlace,
): void {
  putPlace(keys, keyAt, place);
  putWord(values, valueAt + FRONTEND.list, list);
  putWord(values, valueAt + FRONTEND.slotCount, slotCount);
}

export function slotKey(list: number, slot: number): Uint8Array {
  const bytes = new Uint8Array(SLOT.keyBytes);
  putWord(bytes, SLOT.list, list);
  putWord(bytes, SLOT.slot, slot);
  return bytes;
}

/** A slot of a list, with its number there. */
export interface NumberedSlot {
  readonly list: number;
  readonly number: number;
  readonly slot: Slot;
}

export function putSlot(
  { list, number, slot }: NumberedSlot,
  { keys, keyAt, values, valueAt }: EntryPlace,
): void {
  putWord(keys, keyAt + SLOT.list, list);
  putWord(keys, keyAt + SLOT.slot, number);
  putWord(values, valueAt + SLOT.threshold, slot.threshold);
  putPlace(values, valueAt + SLOT.first, slot.first);
  putPlace(values, valueAt + SLOT.other, slot.other);
}

/** Not by a view: to make one takes longer than all else that is done for a slot. */
function putWord(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value & 0xff;
  bytes[at + 1] = (value >>> 8) & 0xff;
  bytes[at + 2] = (value >>> 16) & 0xff;
  bytes[at + 3] = value >>> 24;
}

function putPlace(bytes: Uint8Array, at: number, { ip, port }: Place): void {
  if (familyOf(ip) === "v6") bytes.set(ipaddr.IPv6.parse(ip).toByteArray(), at);
  else putMapped(bytes, at, ip);
  bytes[at + PORT] = port >>> 8;
  bytes[at + PORT + 1] = port & 0xff;
}

/** By hand: there are tens of thousands in a first state, and the library takes a hundred times as long. */
function putMapped(bytes: Uint8Array, at: number, ip: string): void {
  bytes[at + MAPPED_MARK] = 0xff;
  bytes[at + MAPPED_MARK + 1] = 0xff;
  let to = at + MAPPED_MARK + 2;
  let number = 0;
  for (let index = 0; index < ip.length; index += 1) {
    const code = ip.charCodeAt(index);
    if (code === DOT) {
      bytes[to] = number;
      to += 1;
      number = 0;
    } else number = number * 10 + code - ZERO;
  }
  bytes[to] = number;
}
