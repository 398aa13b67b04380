import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { FAMILIES } from "../../../core/model/address.ts";
import { TCP_ACK, TCP_PSH } from "../../../wire/ip/ip-numbers.ts";
import { hasRightChecksums } from "../../../wire/ip/packets.fixture.ts";
import { VERDICT } from "../bpf/bpf-numbers.ts";
import { connectionOf, fastFlowOf, WAY } from "./connections.fixture.ts";
import { FastPrograms, LINK, type PacketContext, requiresSums } from "./fast-programs.fixture.ts";
import {
  changed,
  ETHERNET_BYTES,
  type FrameSpec,
  frameOf,
  IP,
  rectified,
} from "./frames.fixture.ts";
import { TRAIL } from "./layout.ts";

/** Of the header of IP: where it says how long the packet is. */
const LENGTH = { v4: 2, v6: 4 } as const;
const SECOND_NS = 1_000_000_000n;
/** A header of TCP with a time-stamp, as almost all have it. */
const TIMESTAMP = [1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8];
const MAX_SEQUENCE = 0xffff_ffff;
/** Who is behind by no more than that is a little behind. */
const A_LITTLE = 2 ** 24;
const FAR = 2 ** 31;

describe.each(FAMILIES)("what comes in by a link, %s", requires("linux", "root"), (family) => {
  let programs: FastPrograms;
  beforeEach(() => {
    programs = new FastPrograms();
  });
  afterEach(() => programs.close());
  const { asked, sent } = connectionOf(family);
  const flow = fastFlowOf({ ...asked, link: LINK }, sent);
  const HEADER_BYTES = IP[family].bytes + 20;

  /** As the rules would send it. */
  const leaving = (spec: FrameSpec = {}, ends = sent) =>
    frameOf(ends, { ...spec, macs: WAY.macs, hops: (spec.hops ?? 64) - 1 }).toString("hex");
  const isNoted = () => programs.notes().some((note) => note.readUInt32LE(TRAIL.length) !== 0);

  test("leaves as the rules would send it, in all lengths", () => {
    programs.lease(flow);
    let count = 0;
    for (let payloadBytes = 0; payloadBytes <= WAY.mtu - HEADER_BYTES; payloadBytes += 13) {
      const { verdict, frame, mark, priority } = programs.comes(frameOf(asked, { payloadBytes }), {
        mark: 99,
        priority: 1,
      });
      expect(verdict).toBe(VERDICT.redirect);
      expect(frame).toBe(leaving({ payloadBytes }));
      expect(hasRightChecksums(Buffer.from(frame, "hex").subarray(ETHERNET_BYTES))).toBe(true);
      expect([mark, priority]).toEqual([WAY.mark, WAY.priority]);
      count += 1;
    }
    expect(programs.maps.passed()).toBe(count);
    expect(isNoted()).toBe(false);
  });

  test.each<readonly [string, FrameSpec]>([
    ["the last hop but one", { hops: 2 }],
    ["the most hops", { hops: 255 }],
    ["a kind of service", { kindOfService: 0xb9 }],
    ["options of TCP", { options: TIMESTAMP }],
    ["a push", { flags: TCP_ACK | TCP_PSH }],
    ["as much as the link takes", { payloadBytes: WAY.mtu - HEADER_BYTES }],
  ])("leaves so with %s", (_, spec) => {
    programs.lease(flow);
    const { verdict, frame } = programs.comes(frameOf(asked, spec));
    expect([verdict, frame]).toEqual([VERDICT.redirect, leaving(spec)]);
  });

  test("leaves so in one piece with others of its connection, as far as each fits the link", () => {
    programs.lease(flow);
    const payloadBytes = 3000;
    const gsoBytes = WAY.mtu - HEADER_BYTES - TIMESTAMP.length;
    const spec = { payloadBytes, options: TIMESTAMP };
    const whole = frameOf(asked, spec);
    const { verdict, frame } = programs.comes(whole, { gsoBytes });
    expect([verdict, frame]).toEqual([VERDICT.redirect, leaving(spec)]);
    const left = programs.comes(whole, { gsoBytes: gsoBytes + 1 });
    expect([left.verdict, left.frame]).toEqual([VERDICT.next, whole.toString("hex")]);
  });

  test("leaves so whatever is translated, with sums that are right", () => {
    passTranslated({});
  });

  test("leaves so with the sum of a card, which is right then, too", requiresSums(), () => {
    passTranslated({ hasSum: true });
  });

  /** Packets of many connections, of which addresses, ports or both are others then. */
  function passTranslated(context: PacketContext): void {
    for (let number = 0; number < 100; number += 1) {
      const ends = connectionOf(family, number * 97).asked;
      const others = [
        { ...ends, srcPort: (number * 7919) & 0xffff },
        { ...ends, dstPort: 0xffff - number },
        { ...ends, dst: sent.dst },
        { ...ends, src: sent.src, dst: ends.src },
        { ...sent, srcPort: number },
      ];
      for (const to of others) {
        programs.lease(fastFlowOf({ ...ends, link: LINK }, to));
        const { verdict, frame } = programs.comes(frameOf(ends, { payloadBytes: number }), context);
        expect(verdict).toBe(VERDICT.redirect);
        expect(frame).toBe(leaving({ payloadBytes: number }, to));
      }
    }
  }

  test.each<readonly [string, FrameSpec, number]>([
    ["nothing was said", { sequence: 1000, payloadBytes: 0 }, 1000],
    ["something was said", { sequence: 1000, payloadBytes: 33 }, 1033],
    ["it has options", { sequence: 1000, payloadBytes: 33, options: TIMESTAMP }, 1033],
    ["numbers begin anew", { sequence: MAX_SEQUENCE, payloadBytes: 3 }, 2],
  ])("is kept up with where %s", (_, spec, end) => {
    for (const lease of [SECOND_NS * 60n, -SECOND_NS]) {
      programs.lease(flow, lease);
      programs.comes(frameOf(asked, { ...spec, acknowledged: MAX_SEQUENCE - 7 }));
      expect(programs.taken(family)).toMatchObject([{ end, acknowledged: MAX_SEQUENCE - 7 }]);
    }
  });

  test.each([
    ["goes on", 5000, 5001, 5001],
    ["says the same again", 5000, 5000, 5000],
    ["is a byte behind", 5000, 4999, 5000],
    ["is a little behind", FAR, FAR - A_LITTLE, FAR],
    ["is far behind", FAR, FAR - A_LITTLE - 1, FAR],
    ["is a little ahead", 5000, 5000 + A_LITTLE, 5000 + A_LITTLE],
    ["is too far ahead", 5000, 5001 + A_LITTLE, 5000],
    ["is far ahead", 5000, 5000 + FAR, 5000],
    ["goes on where numbers begin anew", MAX_SEQUENCE, 5, 5],
    ["is a little behind where numbers begin anew", 5, MAX_SEQUENCE, 5],
    ["is at the edge of that", 5, 2 ** 32 + 5 - A_LITTLE, 5],
    ["is far behind where numbers begin anew", 5, 2 ** 32 + 4 - A_LITTLE, 5],
    ["was nowhere yet", 0, MAX_SEQUENCE, MAX_SEQUENCE],
  ])(
    "is kept up with by who knows where it is, and never led back: it %s",
    (_, first, then, expected) => {
      const other = { sequence: 77, acknowledged: 88, payloadBytes: 0 };
      for (const [number, name] of [
        ["sequence", "end"],
        ["acknowledged", "acknowledged"],
      ] as const) {
        programs.lease(flow);
        for (const value of [first, then]) {
          const { verdict } = programs.comes(frameOf(asked, { ...other, [number]: value }));
          expect(verdict).toBe(VERDICT.redirect);
        }
        const expectedLease = { end: 77, acknowledged: 88, [name]: expected };
        expect(programs.taken(family)).toMatchObject([expectedLease]);
      }
    },
  );

  test("is kept up with by the end of what it says, which may be said again in part", () => {
    programs.lease(flow);
    programs.comes(frameOf(asked, { sequence: 1000, payloadBytes: 500 }));
    programs.comes(frameOf(asked, { sequence: 1000, payloadBytes: 100 }));
    expect(programs.taken(family)).toMatchObject([{ end: 1500 }]);
    programs.comes(frameOf(asked, { sequence: 1000, payloadBytes: 600 }));
    expect(programs.taken(family)).toMatchObject([{ end: 1600 }]);
  });

  test.each([
    ["all of it", 1500, 1000, 500],
    ["a part of it", 1500, 1000, 100],
    ["the last byte of it", 1500, 1499, 1],
    ["what came long before", FAR, FAR - A_LITTLE - 500, 500],
    ["what came before numbers began anew", 600, MAX_SEQUENCE, 9],
  ])("goes by the rules where it says again %s", (_, end, sequence, payloadBytes) => {
    programs.lease(flow);
    programs.comes(frameOf(asked, { sequence: end - 500, payloadBytes: 500 }));
    const frame = frameOf(asked, { sequence, payloadBytes });
    const { verdict, frame: left } = programs.comes(frame);
    expect([verdict, left]).toEqual([VERDICT.next, frame.toString("hex")]);
    expect(isNoted()).toBe(true);
    expect(programs.taken(family)).toMatchObject([{ end }]);
  });

  test.each([
    ["says more than before", 1000, 501],
    ["goes on", 1500, 1],
    ["says nothing", 1500, 0],
    ["asks whether the other end is there", 1499, 0],
    ["is too far ahead", 1501 + A_LITTLE, 1],
  ])("leaves as the rules would send it where it %s", (_, sequence, payloadBytes) => {
    programs.lease(flow);
    programs.comes(frameOf(asked, { sequence: 1000, payloadBytes: 500 }));
    const spec = { sequence, payloadBytes };
    const { verdict, frame } = programs.comes(frameOf(asked, spec));
    expect([verdict, frame]).toEqual([VERDICT.redirect, leaving(spec)]);
  });

  test.each([[[]], [TIMESTAMP]])(
    "is kept up with where it says no length, as it is too long for that: %o",
    (options) => {
      const spec = { sequence: 1000, payloadBytes: 3000, options };
      programs.lease(flow);
      const { verdict, frame } = programs.comes(withoutLength(frameOf(asked, spec)), {
        gsoBytes: 1000,
      });
      const expected = withoutLength(Buffer.from(leaving(spec), "hex"));
      expect([verdict, frame]).toEqual([VERDICT.redirect, expected.toString("hex")]);
      expect(programs.taken(family)).toMatchObject([{ end: 4000 }]);
    },
  );

  /** As BIG TCP has it. */
  function withoutLength(frame: Buffer): Buffer {
    frame.writeUInt16BE(0, ETHERNET_BYTES + LENGTH[family]);
    return rectified(frame, family);
  }

  test("goes on as it did where it is admitted again", () => {
    programs.lease(flow);
    programs.comes(frameOf(asked, { sequence: 1000, payloadBytes: 5 }));
    const before = programs.taken(family);
    expect(before).toMatchObject([{ end: 1005 }]);
    const elsewhere = fastFlowOf({ ...asked, link: LINK }, { ...sent, dstPort: 1 });
    for (const again of [flow, elsewhere]) programs.maps.admit(again, 0n);
    expect(programs.taken(family)).toEqual(before);
    expect(programs.comes(frameOf(asked))).toMatchObject({
      verdict: VERDICT.redirect,
      frame: leaving(),
    });
  });

  test("is kept up with whatever fills a frame behind it", () => {
    programs.lease(flow);
    const frame = frameOf(asked, { sequence: 1000, payloadBytes: 5 });
    const { verdict } = programs.comes(Buffer.concat([frame, Buffer.alloc(6)]));
    expect(verdict).toBe(VERDICT.redirect);
    expect(programs.taken(family)).toMatchObject([{ end: 1005 }]);
  });

  test("is noted each time where its lease is over, and goes by the rules", () => {
    const frame = frameOf(asked);
    for (const lease of [-SECOND_NS, -process.hrtime.bigint()]) {
      programs.lease(flow, lease);
      const { verdict, frame: left } = programs.comes(frame);
      expect([verdict, left]).toEqual([VERDICT.next, frame.toString("hex")]);
      expect(isNoted()).toBe(true);
    }
    expect(programs.taken(family)).toHaveLength(1);
    expect(programs.maps.passed()).toBe(0);
  });

  test("is noted now and then where it is not known", () => {
    const frame = frameOf(asked);
    programs.note(frame);
    expect(programs.notes()[0]?.readUInt32LE(TRAIL.length)).toBe(frame.length);
    let count = 0;
    for (let sequence = 1; sequence <= 400; sequence += 1) {
      programs.comes(frameOf(asked, { sequence }));
      const noted = programs.notes().map((note) => note.readUInt32BE(TRAIL.sequence));
      if (noted.includes(sequence)) count += 1;
    }
    // One of eight; others happen once in many millions of times.
    expect(count).toBeGreaterThan(12);
    expect(count).toBeLessThan(110);
  });
});

test("a packet that says it is not to be cut is no fragment", requires("linux", "root"), () => {
  const programs = new FastPrograms();
  const { asked, sent } = connectionOf("v4");
  programs.lease(fastFlowOf({ ...asked, link: LINK }, sent));
  const frame = rectified(changed(frameOf(asked), 6, 0x40), "v4");
  const expected = changed(frameOf(sent, { macs: WAY.macs, hops: 63 }), 6, 0x40);
  expect(programs.comes(frame)).toMatchObject({
    verdict: VERDICT.redirect,
    frame: rectified(expected, "v4").toString("hex"),
  });
  programs.close();
});
