import type { Family } from "../../../core/model/address.ts";
import { readIp, V4_BYTES, V6_BYTES } from "../../../wire/ip-bytes.ts";
import type { FlowTuple } from "../../../wire/netlink/conntrack/flow.ts";
import { FLOW_BYTES, HEADERS, KEY, VALUE } from "./layout.ts";

/** A direction of a connection that the rules translate, as the programs write it. */
export interface FastFlow {
  readonly family: Family;
  /** As it comes. */
  readonly key: Uint8Array;
  /** As it leaves. */
  readonly value: Uint8Array;
}

/** One that takes the fast path. */
export interface TakenFlow extends FastFlow {
  /** Until when it does without the rules: of CLOCK_MONOTONIC. */
  readonly untilNs: bigint;
  /** Where its packets ended, and what they acknowledged; 0 where there was none yet. */
  readonly end: number;
  readonly acknowledged: number;
}

const ADDRESS_BYTES: Readonly<Record<Family, 4 | 16>> = { v4: V4_BYTES, v6: V6_BYTES };
const PORT_BYTES = 2;

/** The ends of it as it comes, which the kernel tracks it by. */
export function tupleOf({ family, key }: FastFlow): FlowTuple {
  return tupleIn(family, key, KEY);
}

/** The same as it leaves. */
export function leavingTupleOf({ family, value }: FastFlow): FlowTuple {
  return tupleIn(family, value, VALUE);
}

function tupleIn(
  family: Family,
  bytes: Uint8Array,
  at: { readonly ports: number; readonly addresses: number },
): FlowTuple {
  const length = ADDRESS_BYTES[family];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    src: readIp(bytes, at.addresses, length),
    srcPort: view.getUint16(at.ports),
    dst: readIp(bytes, at.addresses + length, length),
    dstPort: view.getUint16(at.ports + PORT_BYTES),
  };
}

/** As what comes back has it. */
export function turned({ src, srcPort, dst, dstPort }: FlowTuple): FlowTuple {
  return { src: dst, srcPort: dstPort, dst: src, dstPort: srcPort };
}

export function isSameTuple(one: FlowTuple, other: FlowTuple): boolean {
  const isSameSource = one.src === other.src && one.srcPort === other.srcPort;
  return isSameSource && one.dst === other.dst && one.dstPort === other.dstPort;
}

/** The key of what answers it: by the link that it left by, with its ends exchanged. */
export function answerKeyOf({ family, value }: FastFlow): Uint8Array {
  const { addressBytes } = HEADERS[family];
  const key = new Uint8Array(FLOW_BYTES[family].key);
  const copy = (from: number, to: number, length: number): void => {
    key.set(value.subarray(from, from + length), to);
  };
  copy(VALUE.link, KEY.link, 4);
  copy(VALUE.ports, KEY.ports + PORT_BYTES, PORT_BYTES);
  copy(VALUE.ports + PORT_BYTES, KEY.ports, PORT_BYTES);
  copy(VALUE.addresses, KEY.addresses + addressBytes, addressBytes);
  copy(VALUE.addresses + addressBytes, KEY.addresses, addressBytes);
  return key;
}

/**
 * Whether each side has acknowledged all that the other one said, as far as is known. Who only asks whether the other
 * end is there goes back by a byte, and is told where the connection is.
 */
export function isSettled(one: TakenFlow, other: TakenFlow): boolean {
  const isHeard = ({ end }: TakenFlow, { acknowledged }: TakenFlow): boolean =>
    end === 0 || acknowledged === 0 || ((acknowledged - end) | 0) >= 0;
  return isHeard(one, other) && isHeard(other, one);
}

/** A key among those of both families, by its bytes. */
export function idOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
}
