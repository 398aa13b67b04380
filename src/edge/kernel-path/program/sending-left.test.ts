import { afterEach, describe, expect, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { TCP_ACK, TCP_FIN, TCP_RST, TCP_SYN } from "../../../wire/ip/ip-numbers.ts";
import {
  COUNTS,
  FOLLOW_FLOW_NS,
  FOLLOW_SENDER_NS,
  MAX_COUNTER,
  MAX_SHORT_BYTES,
  PEER_VALUE,
  RECORD,
} from "../layout.ts";
import type { Ends } from "./map-entries.fixture.ts";
import { PEER, PLACE, RECORD_NUMBER, WAY } from "./programs.fixture.ts";
import {
  changed,
  changedRightly,
  type Family,
  OPEN,
  type Prepared,
  type Protocol,
  packetWith,
  Sending,
} from "./sending.fixture.ts";

/** What makes a packet one for the tunnel; `isSlow`: those behind it follow it. */
const LEFT: readonly (readonly [
  string,
  boolean,
  (at: Prepared) => Buffer | readonly [Buffer, number],
])[] = [
  [
    "nothing passes while it is off",
    false,
    ({ maps, asked }) => {
      maps.set(false, 1, WAY.port);
      return packetWith("tcp", asked, 100);
    },
  ],
  ["it is too long", true, ({ asked }) => packetWith("tcp", asked, MAX_SHORT_BYTES + 1)],
  ["it is a super-packet", true, ({ asked }) => [packetWith("tcp", asked, 100), 10]],
  ...[TCP_SYN, TCP_FIN, TCP_RST].map(
    (flag) =>
      [
        `it begins or ends a connection (${flag})`,
        true,
        ({ asked }: { asked: Ends }) => packetWith("tcp", asked, 100, { tcpFlags: flag | TCP_ACK }),
      ] as const,
  ),
  [
    "its flow is not open",
    true,
    ({ maps, asked, sent, number }) => {
      maps.addFlow(number, asked, sent, { ...OPEN, isOpen: false });
      return packetWith("tcp", asked, 100);
    },
  ],
  [
    "it is of the way back",
    true,
    ({ maps, asked, sent, number }) => {
      maps.addFlow(number, asked, sent, { ...OPEN, isBack: true });
      return packetWith("tcp", asked, 100);
    },
  ],
  [
    "its flow is not known, and its destination is a service",
    false,
    ({ maps, asked, number }) => {
      maps.removeFlow(number, asked);
      return packetWith("tcp", asked, 100);
    },
  ],
  [
    "its destination is here",
    false,
    ({ asked }) => packetWith("tcp", { ...asked, destination: "10.18.1.5" }, 100),
  ],
  [
    "its peer is not known by a way",
    false,
    ({ asked }) => packetWith("tcp", { ...asked, destination: "10.18.3.5" }, 100),
  ],
  [
    "its place is gone",
    false,
    ({ maps, asked }) => {
      maps.removePlace(PLACE);
      return packetWith("tcp", asked, 100);
    },
  ],
  [
    "its peer is gone",
    false,
    ({ maps, asked }) => {
      maps.removePeer(PEER);
      return packetWith("tcp", asked, 100);
    },
  ],
  ...[PEER_VALUE.link, PEER_VALUE.record, PEER_VALUE.sealingKey, PEER_VALUE.check - 1].map(
    (at) =>
      [
        `what is read of its peer is not of one entry (byte ${at})`,
        false,
        ({ maps, asked }: Prepared) => {
          maps.spoilPeer(PEER, at);
          return packetWith("tcp", asked, 100);
        },
      ] as const,
  ),
  [
    "what is read of its peer is another one's",
    false,
    ({ maps, asked }) => {
      maps.copyPeer(PEER, PEER + 1);
      maps.addPlace(PLACE, PEER + 1);
      return packetWith("tcp", asked, 100);
    },
  ],
  [
    "the counters are used up",
    false,
    ({ maps, asked }) => {
      const record = maps.record(RECORD_NUMBER);
      record.writeUInt32LE(MAX_COUNTER, RECORD.counter);
      maps.setRecord(RECORD_NUMBER, record);
      return packetWith("tcp", asked, 100);
    },
  ],
  ["its checksum is wrong", false, ({ asked }) => changed(packetWith("tcp", asked, 100), 99)],
  ["it has options", false, ({ asked }) => changed(packetWith("tcp", asked, 100), 0, 0x03)],
  ["its length is another", false, ({ asked }) => changed(packetWith("tcp", asked, 100), 3)],
  ["it is a later fragment", false, ({ asked }) => changed(packetWith("tcp", asked, 100), 7)],
  ["it is a first fragment", true, ({ asked }) => changed(packetWith("tcp", asked, 100), 6, 0x20)],
  [
    "its header of TCP is too short",
    false,
    ({ asked }) => changedRightly(packetWith("tcp", asked, 100), 32, 0x10, 36),
  ],
  [
    "its header of TCP is too long",
    false,
    ({ asked }) => changedRightly(packetWith("tcp", asked, 42), 32, 0xa0, 36),
  ],
  [
    "it is of another protocol",
    false,
    ({ asked }) => changed(packetWith("tcp", asked, 100), 9, 0x7f),
  ],
];

const OTHERS: readonly (readonly [string, Protocol, Family, (packet: Buffer) => void])[] = [
  ["an error", "echo", "v4", (packet) => changedRightly(packet, 20, 0x0b, 22)],
  ["an error", "echo", "v6", (packet) => changedRightly(packet, 40, 0x81, 42)],
  ["no checksum", "udp", "v6", (packet) => packet.writeUInt16BE(0, 46)],
  ["extensions", "udp", "v6", (packet) => changed(packet, 6, 0x11)],
  ["another length", "udp", "v6", (packet) => changed(packet, 5)],
];

describe("the program that sends leaves to the tunnel", requires("linux", "root"), () => {
  let sending: Sending;
  afterEach(() => sending.close());

  test.each(LEFT)("%s", (_why, isSlow, make) => {
    sending = new Sending("tcp", "v4");
    const { maps, asked, number } = sending;
    expect(sending.send(packetWith("tcp", asked, 100))).toBeDefined();
    const made = make(sending);
    const [packet, gsoBytes] = Buffer.isBuffer(made) ? [made, 0] : made;
    expect(sending.send(packet, gsoBytes)).toBeUndefined();
    expect(maps.count(COUNTS.sent)).toBe(1);
    expect(maps.slowNs(number, asked) !== undefined).toBe(isSlow);
  });

  test.each(OTHERS)("%s of %s over IP%s", (_why, protocol, family, change) => {
    sending = new Sending(protocol, family);
    const packet = packetWith(protocol, sending.sent, 90);
    expect(sending.send(packet)).toBeDefined();
    change(packet);
    expect(sending.send(packet)).toBeUndefined();
  });

  test("everything, once counters are used up, which stay where they are", () => {
    sending = new Sending("tcp", "v4");
    const { maps, asked } = sending;
    const record = maps.record(RECORD_NUMBER);
    record.writeUInt32LE(MAX_COUNTER - 1, RECORD.counter);
    maps.setRecord(RECORD_NUMBER, record);
    const packet = packetWith("tcp", asked, 100);
    expect(sending.send(packet)?.counter).toBe(BigInt(MAX_COUNTER) - 1n);
    for (let count = 0; count < 3; count += 1) expect(sending.send(packet)).toBeUndefined();
    expect(maps.record(RECORD_NUMBER).readUInt32LE(RECORD.counter)).toBe(MAX_COUNTER);
  });

  test("short ones that follow a long one of their flow, until that is a while ago", () => {
    sending = new Sending("tcp", "v4");
    const { maps, asked, number } = sending;
    const packet = packetWith("tcp", asked, 100);
    const ahead = process.hrtime.bigint() + 1_000_000_000n;
    maps.setSlowNs(number, asked, ahead);
    expect(sending.send(packet)).toBeUndefined();
    expect(maps.slowNs(number, asked)).toBe(ahead);
    maps.setSlowNs(number, asked, process.hrtime.bigint() - BigInt(FOLLOW_FLOW_NS));
    expect(sending.send(packet)).toBeDefined();
  });

  test("mere acknowledgements for a peer that sent something long, until that is a while ago", () => {
    sending = new Sending("tcp", "v4");
    const { maps, asked } = sending;
    const [bare, more] = [52, 53].map((byteCount) =>
      // All but one byte are options.
      changedRightly(packetWith("tcp", asked, byteCount), 32, 0xd0, 36),
    );
    if (bare === undefined || more === undefined) throw new Error("there are two packets");
    const setSlow = (ns: bigint): void => {
      const record = maps.record(RECORD_NUMBER);
      record.writeBigUInt64LE(ns, RECORD.slowNs);
      maps.setRecord(RECORD_NUMBER, record);
    };
    setSlow(process.hrtime.bigint() + 1_000_000_000n);
    expect(sending.send(bare)).toBeUndefined();
    expect(sending.send(more)).toBeDefined();
    setSlow(process.hrtime.bigint() - BigInt(FOLLOW_SENDER_NS));
    expect(sending.send(bare)).toBeDefined();
  });
});
