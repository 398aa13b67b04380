import { afterEach, describe, expect, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { fold, pseudoHeaderSum } from "../../../wire/ip/checksum.ts";
import { viewOf } from "../../../wire/ip/packets.fixture.ts";
import { COUNTS, MAX_SHORT_BYTES, MODE_FAST, RECORD } from "../layout.ts";
import { RECORD_NUMBER, WAY } from "./programs.fixture.ts";
import {
  FAMILIES,
  type Family,
  KINDS,
  PROTOCOLS,
  type Protocol,
  packetWith,
  Sending,
} from "./sending.fixture.ts";

const LENGTHS = Array.from({ length: MAX_SHORT_BYTES + 1 }, (_, length) => length);

/** As it is sealed: behind a segment header of zeros. */
const textOf = (packet: Buffer) => Buffer.concat([Buffer.alloc(8), packet]).toString("hex");

describe("the program that sends", requires("linux", "root"), () => {
  let sending: Sending;
  afterEach(() => sending.close());

  function prepare(protocol: Protocol, family: Family, mode?: number): Sending {
    sending = new Sending(protocol, family, mode);
    return sending;
  }

  function send(packet: Buffer) {
    const datagram = sending.send(packet);
    return datagram && { ...datagram, text: datagram.text.toString("hex") };
  }

  test.each(KINDS)("%s over IP%s, translated, in all lengths", (protocol, family) => {
    const { asked, sent, number, maps } = prepare(protocol, family);
    let counter = 0n;
    let bytes = 0n;
    const headerBytes = (family === "v6" ? 40 : 20) + (protocol === "tcp" ? 20 : 8);
    const lengths = LENGTHS.slice(Math.max(headerBytes, FAMILIES[family].shortest));
    for (const length of lengths) {
      expect(send(packetWith(protocol, asked, length))).toEqual({
        type: 4,
        receiver: WAY.receiver,
        counter,
        text: textOf(packetWith(protocol, sent, length)),
      });
      counter += 1n;
      bytes += BigInt(length);
    }
    expect(maps.count(COUNTS.sent)).toBe(lengths.length);
    const record = maps.record(RECORD_NUMBER);
    expect(record.readUInt32LE(RECORD.counter)).toBe(lengths.length);
    expect(record.readBigUInt64LE(RECORD.packetsOut)).toBe(counter);
    expect(record.readBigUInt64LE(RECORD.bytesOut)).toBe(bytes);
    const ageNs = process.hrtime.bigint() - (maps.lastUsedNs(number, asked) ?? 0n);
    expect(Number(ageNs)).toBeLessThan(1e9);
  });

  test.each(KINDS)("%s over IP%s, in fast mode", (protocol, family) => {
    const { asked, sent, maps } = prepare(protocol, family, MODE_FAST);
    for (const length of [FAMILIES[family].shortest, 100, 333, MAX_SHORT_BYTES]) {
      expect(send(packetWith(protocol, asked, length))).toEqual({
        type: 0x11,
        receiver: WAY.receiver,
        counter: -1n,
        text: textOf(packetWith(protocol, sent, length)),
      });
    }
    expect(maps.record(RECORD_NUMBER).readUInt32LE(RECORD.counter)).toBe(0);
    expect(maps.record(RECORD_NUMBER).readBigUInt64LE(RECORD.packetsOut)).toBe(4n);
  });

  test.each(KINDS)("%s over IP%s to a workload of the peer, as it is", (protocol, family) => {
    const { sent } = prepare(protocol, family);
    const packet = packetWith(protocol, sent, 99);
    expect(send(packet)?.text).toBe(textOf(packet));
  });

  test.each([
    ["tcp", "v4"],
    ["udp", "v4"],
    ["tcp", "v6"],
    ["udp", "v6"],
  ] as const)("%s over IP%s: a checksum of the pseudo header is completed", (protocol, family) => {
    const { asked, sent } = prepare(protocol, family);
    const isV6 = family === "v6";
    for (const [from, to] of [
      [asked, sent],
      [sent, sent],
    ] as const) {
      const packet = packetWith(protocol, from, 121);
      const l4At = isV6 ? 40 : 20;
      const addresses = isV6 ? { addresses: 8, byteCount: 32 } : { addresses: 12, byteCount: 8 };
      const number = PROTOCOLS[protocol][family];
      const sum = pseudoHeaderSum(viewOf(packet), addresses, number, 121 - l4At);
      packet.writeUInt16BE(fold(sum), l4At + (protocol === "tcp" ? 16 : 6));
      expect(send(packet)?.text).toBe(textOf(packetWith(protocol, to, 121)));
    }
  });

  test("a datagram without a checksum stays so over IPv4", () => {
    const { asked, sent } = prepare("udp", "v4");
    const without = (packet: Buffer) => {
      packet.writeUInt16BE(0, 26);
      return packet;
    };
    const text = textOf(without(packetWith("udp", sent, 77)));
    expect(send(without(packetWith("udp", asked, 77)))?.text).toBe(text);
  });

  test("a checksum that comes out as 0 is written as its other form", () => {
    const { asked, sent } = prepare("udp", "v4");
    const wanted = Array.from({ length: 0x1_0000 }, (_, word) =>
      Buffer.concat([Buffer.alloc(20, 7), Buffer.from([word >> 8, word & 0xff])]),
    ).find((payload) => packetWith("udp", sent, 50, { payload }).readUInt16BE(26) === 0xffff);
    const [packet, expected] = [asked, sent].map((ends) =>
      packetWith("udp", ends, 50, { payload: wanted ?? Buffer.alloc(0) }),
    );
    expect(send(packet ?? Buffer.alloc(0))?.text).toBe(textOf(expected ?? Buffer.alloc(0)));
  });
});
