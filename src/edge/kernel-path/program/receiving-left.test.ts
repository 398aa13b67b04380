import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { VERDICT } from "../../../platform/linux/bpf/bpf-numbers.ts";
import { fold, pseudoHeaderSum } from "../../../wire/ip/checksum.ts";
import { PROTOCOL_TCP, TCP_ACK, TCP_FIN, TCP_RST, TCP_SYN } from "../../../wire/ip/ip-numbers.ts";
import { viewOf } from "../../../wire/ip/packets.fixture.ts";
import {
  FOLLOW_SENDER_NS,
  FOLLOW_TAKEN_NS,
  MAX_COUNTER,
  MAX_SHORT_BYTES,
  MODE_FAST,
  MODE_SECURE,
  RECORD,
  SENDER_VALUE,
  TAKEN_COUNT,
} from "../layout.ts";
import type { FilledMaps } from "./kernel-path-maps.fixture.ts";
import type { Ends } from "./map-entries.fixture.ts";
import { frameOf, LoadedProgram, PLACE, RECORD_NUMBER, WAY } from "./programs.fixture.ts";
import { assembleReceiving } from "./receiving.ts";
import { changed, packetWith } from "./sending.fixture.ts";

const ENDS: Ends = {
  source: "10.18.2.2",
  destination: "10.18.1.3",
  sourcePort: 8080,
  destinationPort: 41_000,
};
const PACKET: Buffer = packetWith("tcp", ENDS, 100);

/** Its checksum covers the pseudo header only, which flags of the segment header would have to say. */
function partial(): Buffer {
  const packet = packetWith("tcp", ENDS, 100);
  const addresses = { addresses: 12, byteCount: 8 };
  packet.writeUInt16BE(fold(pseudoHeaderSum(viewOf(packet), addresses, PROTOCOL_TCP, 80)), 36);
  return packet;
}

/** By frame, and by how many bytes of a segment it says. `isSlow`: all of the sender follow it. */
const LEFT: readonly (readonly [
  string,
  boolean,
  (maps: FilledMaps, mode: number) => Buffer | readonly [Buffer, number],
])[] = [
  [
    "everything while it is off",
    false,
    (maps, mode) => {
      maps.set(false, 1, WAY.port);
      return frameOf({ packet: PACKET, mode });
    },
  ],
  ["another machine's frames", false, (_, mode) => changed(frameOf({ packet: PACKET, mode }), 5)],
  ["another port", false, (_, mode) => frameOf({ packet: PACKET, mode, destinationPort: 1 })],
  ["another sender", false, (_, mode) => frameOf({ packet: PACKET, mode, source: "192.168.2.3" })],
  ["a sender's other port", false, (_, mode) => frameOf({ packet: PACKET, mode, sourcePort: 1 })],
  ["another receiver", false, (_, mode) => frameOf({ packet: PACKET, mode, receiver: 5 })],
  [
    "what is for another address",
    false,
    (_, mode) => frameOf({ packet: PACKET, mode, destination: "192.168.1.3" }),
  ],
  [
    "what is of another mode",
    false,
    (_, mode) => frameOf({ packet: PACKET, mode: mode === MODE_FAST ? MODE_SECURE : MODE_FAST }),
  ],
  ["another type", false, (_, mode) => changed(frameOf({ packet: PACKET, mode }), 42, 0x02)],
  ["a type that says more", false, (_, mode) => changed(frameOf({ packet: PACKET, mode }), 45)],
  ["IPv6 outside", false, (_, mode) => changed(frameOf({ packet: PACKET, mode }), 12, 0x8e)],
  ["options outside", false, (_, mode) => changed(frameOf({ packet: PACKET, mode }), 14, 0x03)],
  ["TCP outside", false, (_, mode) => changed(frameOf({ packet: PACKET, mode }), 23, 0x17)],
  ["a later fragment", false, (_, mode) => changed(frameOf({ packet: PACKET, mode }), 21)],
  ["a first fragment", true, (_, mode) => changed(frameOf({ packet: PACKET, mode }), 20, 0x20)],
  ["more than one at once", true, (_, mode) => [frameOf({ packet: PACKET, mode }), 50]],
  [
    "what is too long",
    true,
    (_, mode) => frameOf({ packet: packetWith("tcp", ENDS, MAX_SHORT_BYTES + 1), mode }),
  ],
  ["what is cut off", false, (_, mode) => frameOf({ packet: PACKET, mode }).subarray(0, -1)],
  ["another length of UDP", false, (_, mode) => changed(frameOf({ packet: PACKET, mode }), 39)],
  [
    "messages of the tunnel itself",
    false,
    (_, mode) => frameOf({ packet: PACKET, mode, segment: Buffer.from([8, 0, 0, 0, 0, 0, 0, 0]) }),
  ],
  [
    "what a segment header says anything about",
    false,
    (_, mode) => frameOf({ packet: PACKET, mode, segment: Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]) }),
  ],
  ["what is too short", false, (_, mode) => frameOf({ packet: PACKET.subarray(0, 27), mode })],
  [
    "what is too short to hold anything",
    false,
    (_, mode) => {
      const frame = frameOf({ packet: PACKET, mode });
      frame.writeUInt16BE(40, 16);
      frame.writeUInt16BE(20, 38);
      return frame;
    },
  ],
  ["a wrong length", false, (_, mode) => frameOf({ packet: PACKET.subarray(0, 99), mode })],
  [
    "a wrong checksum",
    false,
    (_, mode) => frameOf({ packet: changed(Buffer.from(PACKET), 99), mode }),
  ],
  ["a checksum that is not complete", false, (_, mode) => frameOf({ packet: partial(), mode })],
  ...[TCP_SYN, TCP_FIN, TCP_RST].map(
    (flag) =>
      [
        `what begins or ends a connection (${flag})`,
        false,
        (_: FilledMaps, mode: number) =>
          frameOf({ packet: packetWith("tcp", ENDS, 60, { tcpFlags: flag | TCP_ACK }), mode }),
      ] as const,
  ),
  [
    "a source that is another peer's",
    false,
    (_, mode) => frameOf({ packet: packetWith("tcp", { ...ENDS, source: "10.18.3.2" }, 60), mode }),
  ],
  [
    "a source that is this node's",
    false,
    (_, mode) => frameOf({ packet: packetWith("tcp", { ...ENDS, source: "10.18.1.2" }, 60), mode }),
  ],
  [
    "a source that is nobody's",
    false,
    (_, mode) => frameOf({ packet: packetWith("tcp", { ...ENDS, source: "10.99.1.2" }, 60), mode }),
  ],
  [
    "a destination that is another peer's",
    false,
    (_, mode) =>
      frameOf({ packet: packetWith("tcp", { ...ENDS, destination: "10.18.3.2" }, 60), mode }),
  ],
  [
    "a destination that is nobody's",
    false,
    (_, mode) =>
      frameOf({ packet: packetWith("tcp", { ...ENDS, destination: "10.99.1.2" }, 60), mode }),
  ],
  [
    "a flow that is not open",
    false,
    (maps, mode) => {
      const state = { isBack: true, isOpen: false, place: PLACE };
      maps.addFlow(PROTOCOL_TCP, ENDS, { ...ENDS, source: "10.30.0.1" }, state);
      return frameOf({ packet: PACKET, mode });
    },
  ],
];

describe.each([
  ["secure", MODE_SECURE],
  ["fast", MODE_FAST],
] as const)(
  "the program that receives leaves to the tunnel, %s",
  requires("linux", "root"),
  (_name, mode) => {
    let program: LoadedProgram;
    afterEach(() => program.close());

    test.each(LEFT)("%s", (_why, isSlow, make) => {
      program = new LoadedProgram(assembleReceiving, mode);
      const { maps } = program;
      const before = maps.record(RECORD_NUMBER);
      const made = make(maps, mode);
      const [frame, gsoBytes] = Buffer.isBuffer(made) ? [made, 0] : made;
      const { returned, output } = program.run(frame, gsoBytes);
      expect(returned).toBe(VERDICT.next);
      expect(output.toString("hex")).toBe(frame.toString("hex"));
      const record = maps.record(RECORD_NUMBER);
      expect(record.readBigUInt64LE(RECORD.slowNs) !== 0n).toBe(isSlow);
      record.writeBigUInt64LE(0n, RECORD.slowNs);
      record.fill(0, RECORD.leftCounter, RECORD.taken);
      expect(record.equals(before)).toBe(true);
      // It was that, and nothing else.
      if (isSlow || !maps.isOn) return;
      maps.removeFlow(PROTOCOL_TCP, ENDS);
      maps.setRecord(RECORD_NUMBER, record);
      expect(program.run(frameOf({ packet: PACKET, mode })).returned).toBe(VERDICT.redirect);
    });

    test.each([SENDER_VALUE.peer, SENDER_VALUE.record, SENDER_VALUE.openingKey])(
      "what is read of its sender is not of one entry (byte %s)",
      (at) => {
        program = new LoadedProgram(assembleReceiving, mode);
        program.maps.spoilSender(WAY, at);
        expect(program.run(frameOf({ packet: PACKET, mode })).returned).toBe(VERDICT.next);
        program.maps.spoilSender(WAY, at);
        expect(program.run(frameOf({ packet: PACKET, mode })).returned).toBe(VERDICT.redirect);
      },
    );

    test("short ones behind a long one, until that is a while ago", () => {
      program = new LoadedProgram(assembleReceiving, mode);
      const { maps } = program;
      const setSlow = (ns: bigint) => {
        const record = maps.record(RECORD_NUMBER);
        record.writeBigUInt64LE(ns, RECORD.slowNs);
        maps.setRecord(RECORD_NUMBER, record);
      };
      setSlow(process.hrtime.bigint() + 1_000_000_000n);
      expect(program.run(frameOf({ packet: PACKET, mode })).returned).toBe(VERDICT.next);
      setSlow(process.hrtime.bigint() - BigInt(FOLLOW_SENDER_NS));
      expect(program.run(frameOf({ packet: PACKET, mode })).returned).toBe(VERDICT.redirect);
    });
  },
);

describe(
  "the program that receives, behind one that is left to the tunnel",
  requires("linux", "root"),
  () => {
    test.each([
      ["a long one", { packet: packetWith("tcp", ENDS, MAX_SHORT_BYTES + 1) }],
      ["one of the tunnel itself", { packet: PACKET, segment: Buffer.alloc(8, 1) }],
    ])("leaves others to the tunnel until that is taken, or lost: %s", (_what, left) => {
      const program = new LoadedProgram(assembleReceiving);
      onTestFinished(() => program.close());
      const { maps } = program;
      const change = (write: (record: Buffer) => void) => {
        const record = maps.record(RECORD_NUMBER);
        write(record);
        maps.setRecord(RECORD_NUMBER, record);
      };
      const since = (ns: number) =>
        change((record) => {
          record.writeBigUInt64LE(0n, RECORD.slowNs);
          record.writeBigUInt64LE(process.hrtime.bigint() - BigInt(ns), RECORD.leftNs);
        });
      const run = (counter: bigint) => program.run(frameOf({ packet: PACKET, counter })).returned;
      const leave = (counter: bigint) => program.run(frameOf({ ...left, counter })).returned;
      expect(leave(3000n)).toBe(VERDICT.next);
      expect(maps.record(RECORD_NUMBER).readUInt32LE(RECORD.leftCounter)).toBe(3001);
      since(0);
      expect(run(3001n)).toBe(VERDICT.next);
      since(FOLLOW_TAKEN_NS);
      expect(run(3001n)).toBe(VERDICT.redirect);
      expect(leave(3002n)).toBe(VERDICT.next);
      since(0);
      expect(run(3003n)).toBe(VERDICT.next);
      change((record) => record.writeUInt32LE(3003, RECORD.taken + 4 * (3002 % TAKEN_COUNT)));
      expect(run(3003n)).toBe(VERDICT.redirect);
    });
  },
);

describe("the program that receives, at the end of a session", requires("linux", "root"), () => {
  test("leaves counters that are too great to the tunnel", () => {
    const program = new LoadedProgram(assembleReceiving);
    const run = (counter: bigint) => program.run(frameOf({ packet: PACKET, counter })).returned;
    expect(run(BigInt(MAX_COUNTER))).toBe(VERDICT.next);
    expect(run(2n ** 32n)).toBe(VERDICT.next);
    expect(run(BigInt(MAX_COUNTER) - 1n)).toBe(VERDICT.redirect);
    program.close();
  });
});
