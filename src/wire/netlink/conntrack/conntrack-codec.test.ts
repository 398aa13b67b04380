import { expect, test } from "vitest";
import { HEADER_BYTES } from "../netlink-words.ts";
import { NetlinkWriter } from "../netlink-writer.ts";
import { writeDelete, writeDump } from "./encode-requests.ts";
import type { Flow } from "./flow.ts";
import { FlowDecoder } from "./flow-decoder.ts";

/** What the kernel told of a UDP flow to 10.0.0.1:53 that was sent to 127.0.0.1:5353. */
const KERNEL_MESSAGE = [
  "02000000",
  "34000180 14000180 08000100 c0a80001 08000200 0a000001",
  "1c000280 05000100 11000000 06000200 9f860000 06000300 00350000",
  "34000280 14000180 08000100 7f000001 08000200 c0a80001",
  "1c000280 05000100 11000000 06000200 14e90000 06000300 9f860000",
  "08000300 000001a8 08000800 00000003 08000c00 e3334b7a",
].join(" ");

const FLOW: Flow = {
  protocol: "UDP",
  original: { src: "192.168.0.1", srcPort: 40838, dst: "10.0.0.1", dstPort: 53 },
  reply: { src: "127.0.0.1", srcPort: 5353, dst: "192.168.0.1", dstPort: 40838 },
  id: 0xe3334b7a,
  isDestinationNat: true,
  mark: 3,
};

const EVERYTHING = (): boolean => true;

function decode(text: string, wants = EVERYTHING): Flow | undefined {
  const bytes = Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));
  return new FlowDecoder(wants).decode(new DataView(bytes.buffer), 0, bytes.length);
}

test("a flow is read with both directions, what was translated, mark and id", () => {
  expect(decode(KERNEL_MESSAGE)).toEqual(FLOW);
});

test("a destination is translated also where only the addresses tell it, as with IPVS", () => {
  const byAddress = KERNEL_MESSAGE.replace("08000300 000001a8", "08000300 00000188");
  expect(decode(byAddress)).toEqual(FLOW);
  const byPort = byAddress.replace("08000100 7f000001", "08000100 0a000001");
  expect(decode(byPort)?.isDestinationNat).toBe(true);
  const not = byPort.replace("06000200 14e90000", "06000200 00350000");
  expect(decode(not)?.isDestinationNat).toBe(false);
});

test("what is not wanted is not read", () => {
  const asked: [string, number][] = [];
  const decoder = new FlowDecoder((protocol, port) => {
    asked.push([protocol, port]);
    return false;
  });
  const bytes = Uint8Array.from(Buffer.from(KERNEL_MESSAGE.replaceAll(" ", ""), "hex"));
  expect(decoder.decode(new DataView(bytes.buffer), 0, bytes.length)).toBeUndefined();
  expect(asked).toEqual([["UDP", 53]]);
});

test("flows of other zones and protocols are of others", () => {
  expect(decode(`${KERNEL_MESSAGE} 06001200 00050000`)).toBeUndefined();
  expect(decode(KERNEL_MESSAGE.replaceAll("05000100 11", "05000100 01"))).toBeUndefined();
});

test("what was written is read back: a flow of either family", () => {
  for (const [src, dst] of [
    ["192.0.2.1", "198.51.100.7"],
    ["fd00::1", "fd00:1:2:3:4:5:6:7"],
  ] as const) {
    const writer = new NetlinkWriter();
    const original = { src, srcPort: 1234, dst, dstPort: 5060 };
    writeDelete(writer, 9, { ...FLOW, protocol: "SCTP", original }, true);
    const bytes = Uint8Array.from(writer.written());
    // A delete names one direction; for the decoder the same bytes stand for both.
    const twice = Uint8Array.from([...bytes, ...bytes.subarray(HEADER_BYTES + 4)]);
    const replyAt = bytes.length + 2;
    twice[replyAt] = 2;
    const view = new DataView(twice.buffer);
    const flow = new FlowDecoder(EVERYTHING).decode(view, HEADER_BYTES, twice.length);
    expect(flow).toMatchObject({ protocol: "SCTP", original, reply: original, id: FLOW.id });
  }
});

test("a dump asks the kernel to compare only what is given", () => {
  const flagsOf = (filter: Parameters<typeof writeDump>[2]): { family: number; flags: number } => {
    const writer = new NetlinkWriter();
    writeDump(writer, 1, filter);
    const bytes = Uint8Array.from(writer.written());
    // The filter stands last: the flags of the original direction, then those of the reply.
    const flags = new DataView(bytes.buffer).getUint32(bytes.length - 12, true);
    return { family: bytes[HEADER_BYTES] ?? 0, flags };
  };
  const udp = { family: "v4", protocol: "UDP" } as const;
  expect(flagsOf(udp)).toEqual({ family: 2, flags: 0b001000 });
  expect(flagsOf({ ...udp, dstPort: 53 })).toEqual({ family: 2, flags: 0b101000 });
  expect(flagsOf({ ...udp, dst: "10.0.0.1", dstPort: 53 })).toEqual({ family: 2, flags: 0b101010 });
  expect(flagsOf({ family: "v6", protocol: "SCTP" })).toEqual({ family: 10, flags: 0b001000 });
});
