import { describe, expect, test } from "vitest";
import { FAMILIES, type Family } from "../../../core/model/address.ts";
import { checkOf, connectionOf, fastFlowOf, WAY } from "./connections.fixture.ts";
import { FLOW_BYTES, HEADERS, KEY, LEASE, TCP, TRAIL, VALUE } from "./layout.ts";
import { STACK, TCP_CONSTANTS, wordsOf } from "./program-parts.ts";

/** By name: where something begins, and how many bytes it has. */
type Places = Readonly<Record<string, readonly [at: number, bytes: number]>>;

/** The bytes that are more than one's, or outside of those from `from` to `to`. */
function faultsOf(places: Places, from: number, to: number): readonly string[] {
  const owners = new Map<number, string[]>();
  for (const [name, [at, bytes]] of Object.entries(places)) {
    for (let byte = at; byte < at + bytes; byte += 1) {
      owners.set(byte, [...(owners.get(byte) ?? []), name]);
    }
  }
  return [...owners]
    .filter(([byte, names]) => names.length > 1 || byte < from || byte >= to)
    .map(([byte, names]) => `${byte}: ${names.join(", ")}`);
}

function isAligned(at: number, bytes: number): boolean {
  return Number.isInteger(at / bytes);
}

function bytesOf(places: Places): number {
  return Object.values(places).reduce((sum, [, bytes]) => sum + bytes, 0);
}

/** Of memory that is read in words of eight bytes. */
const WORD = 8;
const STACK_BYTES = 512;
const ENDS_BYTES: Readonly<Record<Family, number>> = { v4: 8, v6: 32 };
/** The greatest of both families. */
const MOST = FLOW_BYTES.v6;

describe.each(FAMILIES)("what the programs share, %s", (family) => {
  const sizes = FLOW_BYTES[family];
  const ends = ENDS_BYTES[family];

  test("keys and values are full, without gaps, and of whole words", () => {
    const key: Places = {
      link: [KEY.link, 4],
      ports: [KEY.ports, 4],
      addresses: [KEY.addresses, ends],
    };
    const value: Places = {
      check: [VALUE.check, 8],
      link: [VALUE.link, 4],
      ports: [VALUE.ports, 4],
      addressSum: [VALUE.addressSum, 4],
      portSum: [VALUE.portSum, 4],
      macs: [VALUE.macs, 12],
      mtu: [VALUE.mtu, 4],
      mark: [VALUE.mark, 4],
      priority: [VALUE.priority, 4],
      addresses: [VALUE.addresses, ends],
    };
    for (const [places, bytes] of [
      [key, sizes.key],
      [value, sizes.value],
    ] as const) {
      expect(faultsOf(places, 0, bytes)).toEqual([]);
      expect(bytesOf(places)).toBe(bytes);
      expect(bytes % WORD).toBe(0);
      expect(wordsOf(bytes).at(-1)).toBe(bytes - WORD);
    }
    expect([KEY.addresses % WORD, VALUE.addresses % WORD, VALUE.check % WORD]).toEqual([0, 0, 0]);
  });

  test("a lease is behind its value, and its time is in one word", () => {
    const lease: Places = {
      untilNs: [LEASE.untilNs, 8],
      end: [LEASE.end, 4],
      acknowledged: [LEASE.acknowledged, 4],
    };
    expect(faultsOf(lease, 0, LEASE.bytes)).toEqual([]);
    expect(sizes.lease).toBe(sizes.value);
    expect(sizes.valueAndLease).toBe(sizes.value + LEASE.bytes);
    expect([(sizes.lease + LEASE.untilNs) % WORD, sizes.valueAndLease % WORD]).toEqual([0, 0]);
  });

  test("all words of a key and its value, with the check, are nothing together", () => {
    const { asked, sent } = connectionOf(family);
    const { key, value } = fastFlowOf({ ...asked, link: 5 }, sent, { ...WAY, link: 6 });
    expect([key.length, value.length]).toEqual([sizes.key, sizes.value]);
    expect(checkOf(Buffer.concat([key, value])).readBigUInt64LE()).toBe(0n);
    const read = (at: number) => Buffer.from(value).readUInt32LE(at);
    expect(Buffer.from(key).readUInt32LE(KEY.link)).toBe(5);
    expect([VALUE.link, VALUE.mtu, VALUE.mark, VALUE.priority].map(read)).toEqual([
      6,
      WAY.mtu,
      WAY.mark,
      WAY.priority,
    ]);
    expect(Buffer.from(value).toString("hex", VALUE.macs, VALUE.mtu)).toBe(WAY.macs);
  });

  test("headers end where those behind them begin", () => {
    const { addresses, addressBytes, tcp, bytes } = HEADERS[family];
    expect(2 * addressBytes).toBe(ends);
    expect(addresses + ends).toBe(tcp);
    expect(tcp + TCP.bytes).toBe(bytes);
  });

  test("headers on the stack have addresses and ports where words can be", () => {
    const { addresses, tcp } = HEADERS[family];
    expect(isAligned(STACK.header + addresses, 4)).toBe(true);
    expect(isAligned(STACK.header + tcp + TCP.ports, 4)).toBe(true);
    expect(isAligned(STACK.header, 2)).toBe(true);
  });
});

test("places on the stack are there, and nobody else's", () => {
  const { v6 } = HEADERS;
  const places: Places = {
    zero: [STACK.zero, 4],
    key: [STACK.key, MOST.key],
    value: [STACK.value, MOST.value],
    // All up to the ports is written in one piece.
    header: [STACK.header, v6.tcp + TCP.sequence],
    untilNs: [STACK.untilNs, 8],
    decoySequence: [STACK.decoySequence, 4],
    decoyFlags: [STACK.decoyFlags, 2],
    entry: [STACK.entry, 8],
  };
  expect(Object.keys(places).sort()).toEqual(Object.keys(STACK).sort());
  expect(faultsOf(places, -STACK_BYTES, 0)).toEqual([]);
  for (const at of [STACK.key, STACK.value, STACK.untilNs, STACK.entry])
    expect(isAligned(at, WORD)).toBe(true);
  for (const at of [STACK.zero, STACK.decoySequence]) expect(isAligned(at, 4)).toBe(true);
});

test("what is noted of a packet is there, and nobody else's", () => {
  const places: Places = {
    key: [TRAIL.key, MOST.key],
    length: [TRAIL.length, 4],
    etherType: [TRAIL.etherType, 4],
    constant: [TRAIL.constant, 4 * HEADERS.v6.constant.length],
    hops: [TRAIL.hops, 4],
    purpose: [TRAIL.purpose, 4],
    ...Object.fromEntries(TCP_CONSTANTS.map((what) => [what, [TRAIL[what], 4] as const])),
  };
  expect(Object.keys({ ...places, bytes: 0 }).sort()).toEqual(Object.keys(TRAIL).sort());
  expect(faultsOf(places, 0, TRAIL.bytes)).toEqual([]);
  // The values of all processors are read with so many bytes between them.
  expect(TRAIL.bytes % WORD).toBe(0);
});

test("these tests find bytes that two share, and bytes outside", () => {
  expect(faultsOf({ one: [0, 5], other: [4, 4] }, 0, 7)).toEqual(["4: one, other", "7: other"]);
});
