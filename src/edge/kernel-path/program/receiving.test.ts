import { afterEach, describe, expect, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { VERDICT } from "../../../platform/linux/bpf/bpf-numbers.ts";
import {
  PROTOCOL_ICMP,
  PROTOCOL_ICMP6,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
} from "../../../wire/ip/ip-numbers.ts";
import {
  COUNTS,
  MAX_SHORT_BYTES,
  MODE_FAST,
  MODE_SECURE,
  RECORD,
  TAKEN_COUNT,
  WINDOW,
} from "../layout.ts";
import type { Ends } from "./map-entries.fixture.ts";
import { frameOf, LoadedProgram, PLACE, RECORD_NUMBER } from "./programs.fixture.ts";
import { assembleReceiving } from "./receiving.ts";
import { type Family, type Protocol, packetWith } from "./sending.fixture.ts";

const BACK = { isBack: true, isOpen: true, place: PLACE } as const;
const FAMILIES = {
  v4: { server: "10.18.2.2", service: "10.30.0.1", client: "10.18.1.3" },
  v6: { server: "fc00:2::2", service: "fdff::1", client: "fc00:1::3" },
} as const;
const KINDS: readonly (readonly [Protocol, Family, number])[] = [
  ["tcp", "v4", PROTOCOL_TCP],
  ["udp", "v4", PROTOCOL_UDP],
  ["echo", "v4", PROTOCOL_ICMP],
  ["echo-reply", "v4", PROTOCOL_ICMP],
  ["tcp", "v6", PROTOCOL_TCP],
  ["udp", "v6", PROTOCOL_UDP],
  ["echo", "v6", PROTOCOL_ICMP6],
  ["echo-reply", "v6", PROTOCOL_ICMP6],
];

/** The ends of an answer as it comes, and as the client wants it. */
function endsOf(protocol: Protocol, family: Family): { answered: Ends; returned: Ends } {
  const { server, service, client } = FAMILIES[family];
  const ports = {
    tcp: [8080, 41_000, 80, 40_000],
    udp: [8080, 41_000, 80, 40_000],
    echo: [1077, 0, 77, 0],
    "echo-reply": [0, 1077, 0, 77],
  } as const;
  const [from, to, returnedFrom, returnedTo] = ports[protocol];
  return {
    answered: { source: server, destination: client, sourcePort: from, destinationPort: to },
    returned: {
      source: service,
      destination: client,
      sourcePort: returnedFrom,
      destinationPort: returnedTo,
    },
  };
}

describe("the program that receives", requires("linux", "root"), () => {
  let program: LoadedProgram;
  afterEach(() => program.close());

  /** The packet that a frame is given to the machine as; undefined where the verdict is another. */
  function receive(frame: Buffer): string | undefined {
    const { returned, output } = program.run(frame);
    if (returned !== VERDICT.redirect) return undefined;
    return output.toString("hex", 14);
  }

  test.each(KINDS)("%s over IP%s, translated, in all lengths", (protocol, family, number) => {
    program = new LoadedProgram(assembleReceiving);
    const { maps } = program;
    const { answered, returned } = endsOf(protocol, family);
    maps.addFlow(number, answered, returned, BACK);
    let counter = 0n;
    let bytes = 0n;
    const shortest = (family === "v6" ? 40 : 20) + (protocol === "tcp" ? 20 : 8);
    for (let length = shortest; length <= MAX_SHORT_BYTES; length += 1) {
      const packet = packetWith(protocol, answered, length);
      const expected = packetWith(protocol, returned, length).toString("hex");
      expect(receive(frameOf({ packet, counter }))).toBe(expected);
      counter += 1n;
      bytes += BigInt(length);
    }
    expect(maps.count(COUNTS.received)).toBe(Number(counter));
    const record = maps.record(RECORD_NUMBER);
    expect(record.readUInt32LE(RECORD.greatest)).toBe(Number(counter));
    expect(record.readBigUInt64LE(RECORD.packetsIn)).toBe(counter);
    expect(record.readBigUInt64LE(RECORD.bytesIn)).toBe(bytes);
    const ageNs = process.hrtime.bigint() - (maps.lastUsedNs(number, answered) ?? 0n);
    expect(Number(ageNs)).toBeLessThan(1e9);
  });

  test.each(KINDS)("%s over IP%s, in fast mode", (protocol, family, number) => {
    program = new LoadedProgram(assembleReceiving, MODE_FAST);
    const { answered, returned } = endsOf(protocol, family);
    program.maps.addFlow(number, answered, returned, BACK);
    const shortest = (family === "v6" ? 40 : 20) + (protocol === "tcp" ? 20 : 8);
    for (const length of [shortest, 101, 333, MAX_SHORT_BYTES]) {
      const packet = packetWith(protocol, answered, length);
      const expected = packetWith(protocol, returned, length).toString("hex");
      expect(receive(frameOf({ packet, mode: MODE_FAST }))).toBe(expected);
    }
  });

  test.each(KINDS)("%s over IP%s to a workload here, as it is", (protocol, family, number) => {
    program = new LoadedProgram(assembleReceiving);
    const { answered, returned } = endsOf(protocol, family);
    const packet = packetWith(protocol, answered, 99);
    expect(receive(frameOf({ packet }))).toBe(packet.toString("hex"));
    // A flow of this node's own clients means nothing for what comes in.
    program.maps.addFlow(number, answered, returned, { ...BACK, isBack: false });
    expect(receive(frameOf({ packet, counter: 1n }))).toBe(packet.toString("hex"));
  });

  test("bytes behind the datagram, which only fill the frame, do not matter", () => {
    program = new LoadedProgram(assembleReceiving);
    const packet = packetWith("udp", endsOf("udp", "v4").answered, 28);
    const frame = Buffer.concat([frameOf({ packet }), Buffer.alloc(9, 0xee)]);
    expect(receive(frame)).toBe(packet.toString("hex"));
  });

  test("each counter is taken once, in any order, as far as they are told apart", () => {
    program = new LoadedProgram(assembleReceiving, MODE_SECURE);
    const { maps } = program;
    const packet = packetWith("udp", endsOf("udp", "v4").answered, 60);
    const take = (counter: number) => program.run(frameOf({ packet, counter: BigInt(counter) }));
    const newest = 5000;
    for (const counter of [10, 9, 11, newest, newest - 1, newest - WINDOW + 1]) {
      expect(take(counter).returned).toBe(VERDICT.redirect);
    }
    const taken = maps.record(RECORD_NUMBER);
    expect(taken.readUInt32LE(RECORD.greatest)).toBe(newest + 1);
    expect(taken.readUInt32LE(RECORD.taken + 4 * (newest % TAKEN_COUNT))).toBe(newest + 1);
    for (const counter of [newest, newest - 1, newest - WINDOW + 1]) {
      expect(take(counter).returned).toBe(VERDICT.drop);
    }
    expect(maps.count(COUNTS.refused)).toBe(3);
    expect(take(newest - WINDOW).returned).toBe(VERDICT.next);
    expect(take(10).returned).toBe(VERDICT.next);
    expect(maps.count(COUNTS.received)).toBe(6);
    expect(maps.record(RECORD_NUMBER).equals(taken)).toBe(true);
  });

  test("what is not genuine is refused, and takes no counter", () => {
    program = new LoadedProgram(assembleReceiving);
    const { maps } = program;
    const packet = packetWith("udp", endsOf("udp", "v4").answered, 60);
    const frame = frameOf({ packet });
    const before = maps.record(RECORD_NUMBER);
    const places = [50, 58, 66, 90, frame.length - 17, frame.length - 16, frame.length - 1];
    for (const at of places) {
      const forged = Buffer.from(frame);
      forged.writeUInt8(forged.readUInt8(at) ^ 0x10, at);
      expect(program.run(forged).returned).toBe(VERDICT.drop);
    }
    expect(program.run(frameOf({ packet, key: Buffer.alloc(32, 1) })).returned).toBe(VERDICT.drop);
    expect(maps.count(COUNTS.refused)).toBe(places.length + 1);
    expect(maps.record(RECORD_NUMBER).equals(before)).toBe(true);
    expect(receive(frame)).toBe(packet.toString("hex"));
  });
});
