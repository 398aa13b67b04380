import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { FAMILIES } from "../../../core/model/address.ts";
import { fold } from "../../../wire/ip/checksum.ts";
import { TCP_ACK, TCP_FIN } from "../../../wire/ip/ip-numbers.ts";
import { VERDICT } from "../bpf/bpf-numbers.ts";
import { checkOf, connectionOf, fastFlowOf, WAY } from "./connections.fixture.ts";
import type { FastFlow } from "./fast-flow.ts";
import { FastPrograms, LINK, type PacketContext } from "./fast-programs.fixture.ts";
import { changed, type FrameSpec, frameOf, IP } from "./frames.fixture.ts";
import { LEASE_NS, PURPOSE, TRAIL, VALUE } from "./layout.ts";

/** The coarse clock is behind by a few of these. */
const MS = 1_000_000n;
const BESIDE: PacketContext = { mark: WAY.mark, priority: WAY.priority };

describe.each(FAMILIES)("what goes out by a link, %s", requires("linux", "root"), (family) => {
  let programs: FastPrograms;
  beforeEach(() => {
    programs = new FastPrograms();
    programs.maps.setMtu(LINK, WAY.mtu);
  });
  afterEach(() => programs.close());
  const { asked, sent } = connectionOf(family);
  const flow = fastFlowOf({ ...asked, link: LINK }, sent);
  const comes = frameOf(asked);
  const leaving = (spec: FrameSpec = {}, ends = sent) =>
    frameOf(ends, { macs: WAY.macs, hops: 63, ...spec });
  const leaves = (frame = leaving(), context = BESIDE) => programs.leaves(frame, context).verdict;
  /** By the processor that ran last. */
  const isNoteUsed = () => programs.notes().some((note) => note.readUInt32LE(TRAIL.length) === 0);

  test("is proposed where it was noted, and leaves translated", () => {
    programs.note(comes);
    expect(isNoteUsed()).toBe(false);
    const { verdict, frame } = programs.leaves(leaving(), BESIDE);
    expect([verdict, frame]).toEqual([VERDICT.next, leaving().toString("hex")]);
    expect(isNoteUsed()).toBe(true);
    const seen = programs.maps.takeSeen();
    expect(seen.map(comparable)).toEqual([comparable(flow)]);
    for (const { key, value } of seen) {
      expect(checkOf(Buffer.concat([key, value])).readBigUInt64LE()).toBe(0n);
    }
    expect(programs.maps.takeSeen()).toEqual([]);
    expect(programs.taken(family)).toEqual([]);
  });

  test.each([
    ["all ends", sent],
    ["the destination", { ...asked, dst: sent.dst, dstPort: sent.dstPort }],
    ["an address", { ...asked, dst: sent.dst }],
    ["a port", { ...asked, dstPort: sent.dstPort }],
    ["the order of addresses", { ...asked, src: asked.dst, dst: asked.src }],
    ["the order of ports", { ...asked, srcPort: asked.dstPort, dstPort: asked.srcPort }],
  ])("is proposed so that the next ones leave as the rules sent it: %s", (_, to) => {
    programs.lease(propose(leaving({}, to)));
    const next = { payloadBytes: 77, sequence: 9_000_000, hops: 9 };
    const run = programs.comes(frameOf(asked, next));
    expect(run).toMatchObject({
      verdict: VERDICT.redirect,
      mark: WAY.mark,
      priority: WAY.priority,
    });
    expect(run.frame).toBe(leaving({ ...next, hops: 8 }, to).toString("hex"));
  });

  test("is not proposed where it leaves as it came", () => {
    programs.note(comes);
    expect(leaves(leaving({}, asked))).toBe(VERDICT.next);
    expect(programs.maps.takeSeen()).toEqual([]);
  });

  test.each<readonly [string, Buffer]>([
    ["of another length", leaving({ payloadBytes: 101 })],
    ["of another place", leaving({ sequence: 1 })],
    ["that acknowledges something else", leaving({ acknowledged: 1 })],
    ["with another window", leaving({ window: 1 })],
    ["with other flags", leaving({ flags: 0x18 })],
    ["of another kind of service", leaving({ kindOfService: 4 })],
    ["without a hop less", leaving({ hops: 64 })],
    ["with two hops less", leaving({ hops: 62 })],
    ["of another protocol", changed(leaving(), -2, 0x01)],
    ["UDP", changed(leaving(), IP[family].protocol, 6 ^ 17)],
    ...(family === "v4"
      ? ([
          ["of another number", changed(leaving(), 5, 1)],
          ["a fragment", changed(leaving(), 6, 0x20)],
          ["that may not be cut", changed(leaving(), 6, 0x40)],
        ] as const)
      : ([["with another label", changed(leaving(), 3, 1)]] as const)),
  ])("is not proposed where another was noted: one %s", (_, frame) => {
    programs.note(comes);
    const run = programs.leaves(frame, BESIDE);
    expect([run.verdict, run.frame]).toEqual([VERDICT.next, frame.toString("hex")]);
    expect(programs.maps.takeSeen()).toEqual([]);
    expect(isNoteUsed()).toBe(false);
    // It was that, and nothing else.
    leaves();
    expect(programs.maps.takeSeen()).toHaveLength(1);
  });

  test("is not proposed where the other family was noted", () => {
    const other = connectionOf(family === "v4" ? "v6" : "v4");
    const lengthOf = (ends: typeof asked) => frameOf(ends, { payloadBytes: 0 }).length;
    const payloadBytes = 100 + lengthOf(asked) - lengthOf(other.asked);
    programs.note(frameOf(other.asked, { payloadBytes }));
    expect(leaves()).toBe(VERDICT.next);
    expect(programs.maps.takeSeen()).toEqual([]);
    expect(isNoteUsed()).toBe(false);
  });

  test("is not proposed where nothing was noted, of this node, nor by a link that is not ours", () => {
    expect(leaves()).toBe(VERDICT.next);
    programs.note(comes);
    expect(leaves(leaving(), { ...BESIDE, cameBy: 0 })).toBe(VERDICT.next);
    expect(isNoteUsed()).toBe(false);
    programs.maps.removeMtu(LINK);
    expect(leaves()).toBe(VERDICT.next);
    expect(programs.maps.takeSeen()).toEqual([]);
  });

  test("takes the path for a while longer where it was admitted", () => {
    programs.maps.admit(propose(), 0n);
    const before = process.hrtime.bigint();
    programs.note(comes);
    expect(leaves()).toBe(VERDICT.next);
    const [taken] = programs.taken(family);
    expect(taken?.untilNs).toBeGreaterThan(before + LEASE_NS - 20n * MS);
    expect(taken?.untilNs).toBeLessThanOrEqual(process.hrtime.bigint() + LEASE_NS);
    expect(programs.maps.takeSeen()).toEqual([]);
    const next = { sequence: 0x0110_0000 };
    expect(programs.comes(frameOf(asked, next))).toMatchObject({
      verdict: VERDICT.redirect,
      frame: leaving(next).toString("hex"),
    });
  });

  test.each<readonly [string, Buffer, PacketContext, number]>([
    ["to another server", leaving({}, { ...sent, dstPort: 8081 }), BESIDE, WAY.mtu],
    ["to another neighbour", leaving({ macs: "02000000000c02000000000a" }), BESIDE, WAY.mtu],
    ["of another neighbour", leaving({ macs: "02000000000b02000000000c" }), BESIDE, WAY.mtu],
    ["with another mark", leaving(), { ...BESIDE, mark: 1 }, WAY.mtu],
    ["with another priority", leaving(), { ...BESIDE, priority: 1 }, WAY.mtu],
    ["where less fits", leaving(), BESIDE, 1400],
  ])("takes the path no longer where it goes another way: one %s", (_, frame, context, mtu) => {
    programs.maps.admit(propose(), 0n);
    programs.note(comes);
    programs.maps.setMtu(LINK, mtu);
    expect(leaves(frame, context)).toBe(VERDICT.next);
    expect(programs.taken(family)).toEqual([]);
    expect(programs.maps.takeSeen()).toEqual([]);
    programs.note(comes);
    leaves(frame, context);
    expect(programs.maps.takeSeen()).toHaveLength(1);
  });

  test("takes the path as long as it did where it leaves as it came", () => {
    programs.maps.admit(propose(), 7n);
    programs.note(comes);
    leaves(leaving({}, asked));
    expect(programs.taken(family)).toMatchObject([{ untilNs: 7n }]);
  });

  test("goes no further where it is for the rules only, and only once", () => {
    const flags = TCP_FIN | TCP_ACK;
    programs.note(comes);
    programs.noteOtherwise((note) => {
      note.writeUInt32LE(PURPOSE.decoy, TRAIL.purpose);
      note.writeUInt8(flags, TRAIL.lengthAndWindow + 1);
    });
    expect(leaves()).toBe(VERDICT.next);
    const decoy = leaving({ flags });
    expect(leaves(decoy)).toBe(VERDICT.drop);
    expect(isNoteUsed()).toBe(true);
    programs.noteOtherwise((note) => note.writeUInt32LE(0, TRAIL.length));
    expect(leaves(decoy)).toBe(VERDICT.next);
    expect(programs.maps.takeSeen()).toEqual([]);
  });

  /** As the program writes it: sums have more than one form. */
  function propose(frame = leaving()): FastFlow {
    programs.note(comes);
    leaves(frame);
    const [proposed] = programs.maps.takeSeen();
    if (proposed === undefined) throw new Error("it was not proposed");
    return proposed;
  }
});

/** With sums in their only short form, and without a check, which has another form then. */
function comparable({ family, key, value }: FastFlow): object {
  const bytes = Buffer.from(value);
  for (const at of [VALUE.addressSum, VALUE.portSum]) {
    bytes.writeUInt32LE(fold(bytes.readUInt32LE(at)), at);
  }
  bytes.fill(0, VALUE.check, VALUE.link);
  return { family, key: Buffer.from(key).toString("hex"), value: bytes.toString("hex") };
}
