import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { FAMILIES } from "../../../core/model/address.ts";
import { VERDICT } from "../bpf/bpf-numbers.ts";
import { connectionOf, fastFlowOf, WAY } from "./connections.fixture.ts";
import { FastPrograms, LINK } from "./fast-programs.fixture.ts";
import { changed, ETHERNET_BYTES, frameOf, IP } from "./frames.fixture.ts";

/** Behind what all others say. */
const LATER = 0x0110_0000;

describe.each(FAMILIES)("what is left to the rules, %s", requires("linux", "root"), (family) => {
  let programs: FastPrograms;
  beforeEach(() => {
    programs = new FastPrograms();
  });
  afterEach(() => programs.close());
  const { asked, sent } = connectionOf(family);
  const flow = fastFlowOf({ ...asked, link: LINK }, sent);
  const HEADER_BYTES = IP[family].bytes + 20;

  const left: readonly (readonly [string, Buffer])[] = [
    ["for another machine", frameOf(asked, { macs: "02aabbccddee020304050607" })],
    ["on its last hop", frameOf(asked, { hops: 1 })],
    ["without a hop", frameOf(asked, { hops: 0 })],
    ["UDP", changed(frameOf(asked), IP[family].protocol, 6 ^ 17)],
    ["of another version", changed(frameOf(asked), 0, 0x10)],
    ["of another protocol", changed(frameOf(asked), -2, 0x01)],
    ["with a tag of a VLAN", tagged(frameOf(asked))],
    ["cut off in its header", frameOf(asked).subarray(0, ETHERNET_BYTES + HEADER_BYTES - 1)],
    ["of another port", frameOf({ ...asked, srcPort: 1 })],
    ["to another port", frameOf({ ...asked, dstPort: 1 })],
    ["of another address", frameOf({ ...asked, src: sent.src })],
    ["to another address", frameOf({ ...asked, dst: sent.dst })],
    ["too long for the link", frameOf(asked, { payloadBytes: WAY.mtu - HEADER_BYTES + 1 })],
    ...(family === "v4"
      ? ([
          ["with options of IP", changed(frameOf(asked), 0, 0x45 ^ 0x46)],
          ["the first fragment", changed(frameOf(asked), 6, 0x20)],
          ["a later fragment", changed(frameOf(asked), 7, 0x01)],
          ["a fragment from far behind", changed(frameOf(asked), 6, 0x10)],
        ] as const)
      : ([
          ["with options for each hop", changed(frameOf(asked), IP.v6.protocol, 6)],
          ["a fragment", changed(frameOf(asked), IP.v6.protocol, 6 ^ 44)],
        ] as const)),
  ];

  test.each(left)("one %s", (_, frame) => {
    programs.lease(flow);
    const { verdict, frame: output, mark } = programs.comes(frame, { mark: 99 });
    expect([verdict, output]).toEqual([VERDICT.next, frame.toString("hex")]);
    expect(mark).toBe(99);
    expect(programs.taken(family)).toHaveLength(1);
    // It was that, and nothing else.
    expect(programs.comes(frameOf(asked, { sequence: LATER })).verdict).toBe(VERDICT.redirect);
    expect(programs.maps.passed()).toBe(1);
  });

  test("what has an entry whose words are not of one", () => {
    const frame = frameOf(asked);
    for (let at = 0; at < flow.value.length; at += 1) {
      const value = Uint8Array.from(flow.value);
      value[at] = (value[at] ?? 0) ^ 0x10;
      programs.lease({ ...flow, value });
      const { verdict, frame: left } = programs.comes(frame);
      expect([at, verdict, left]).toEqual([at, VERDICT.next, frame.toString("hex")]);
    }
    programs.lease(flow);
    expect(programs.comes(frame).verdict).toBe(VERDICT.redirect);
  });

  test("what came by another link", () => {
    programs.lease(fastFlowOf({ ...asked, link: LINK + 1 }, sent));
    expect(programs.comes(frameOf(asked)).verdict).toBe(VERDICT.next);
  });
});

function tagged(frame: Buffer): Buffer {
  const macs = frame.subarray(0, 12);
  return Buffer.concat([macs, Buffer.from("81000005", "hex"), frame.subarray(12)]);
}
