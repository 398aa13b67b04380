import { expect, test } from "vitest";
import { NetlinkWriter } from "../netlink-writer.ts";
import { TCP_ESTABLISHED, TCP_FLAG, type TcpFlow } from "./tcp-flow.ts";
import { parseTcpFlow, writeTcpChange, writeTcpQuestion } from "./tcp-flow-codec.ts";

/** What a kernel (6.18) told of a connection on loopback. */
const KERNEL_MESSAGE = [
  "02000000",
  "34000180 14000180 08000100 7f000001 08000200 7f000001",
  "1c000280 05000100 06000000 06000200 bec90000 06000300 b8ed0000",
  "34000280 14000180 08000100 7f000001 08000200 7f000001",
  "1c000280 05000100 06000000 06000200 b8ed0000 06000300 bec90000",
  "08000300 0000000e 08000800 00000000 08000c00 feb95f8b 08000b00 00000002 08000700 0006977f",
  "30000480 2c000180 05000100 03000000 05000200 0a000000 05000300 0a000000",
  "06000400 23000000 06000500 2b000000",
].join(" ");

const FLOW: TcpFlow = {
  family: "v4",
  original: { src: "127.0.0.1", srcPort: 48_841, dst: "127.0.0.1", dstPort: 47_341 },
  reply: { src: "127.0.0.1", srcPort: 47_341, dst: "127.0.0.1", dstPort: 48_841 },
  id: 0xfeb95f8b,
  state: TCP_ESTABLISHED,
  isAssured: true,
  isTranslated: false,
  hasHelper: false,
  adjustsSequences: false,
  timeoutS: 431_999,
  flags: { original: 0x23, reply: 0x23 | TCP_FLAG.beLiberal },
};

const V4 = { src: "10.0.0.1", srcPort: 0x1234, dst: "10.0.0.2", dstPort: 80 };
const V6 = { src: "fd00::1", srcPort: 0x1234, dst: "fd00::2", dstPort: 80 };
const V4_TUPLE = [
  "02000000 34000180 14000180 08000100 0a000001 08000200 0a000002",
  "1c000280 05000100 06000000 06000200 12340000 06000300 00500000",
].join(" ");
const V6_TUPLE = [
  "0a000000 4c000180 2c000180",
  "14000300 fd000000000000000000000000000001 14000400 fd000000000000000000000000000002",
  "1c000280 05000100 06000000 06000200 12340000 06000300 00500000",
].join(" ");

function parse(text: string): TcpFlow | undefined {
  const bytes = Uint8Array.from(Buffer.from(plain(text), "hex"));
  return parseTcpFlow(new DataView(bytes.buffer), 0, bytes.length);
}

function written(write: (writer: NetlinkWriter) => void): string {
  const writer = new NetlinkWriter();
  write(writer);
  return Buffer.from(writer.written()).toString("hex");
}

function plain(text: string): string {
  return text.replaceAll(" ", "");
}

test("a flow is read with its state, its time-out and the flags of both directions", () => {
  expect(parse(KERNEL_MESSAGE)).toEqual(FLOW);
});

test("what alters packets on their way is told", () => {
  const translated = (status: string) =>
    parse(KERNEL_MESSAGE.replace("08000300 0000000e", `08000300 ${status}`))?.isTranslated;
  expect(translated("0000001e")).toBe(true);
  expect(translated("0000002e")).toBe(true);
  const helped = parse(`${KERNEL_MESSAGE} 0c000580 08000100 66747000`);
  expect(helped).toEqual({ ...FLOW, hasHelper: true });
  for (const type of ["0f80", "1080"]) {
    const adjusted = parse(`${KERNEL_MESSAGE} 0c00${type} 08000100 00000001`);
    expect(adjusted).toEqual({ ...FLOW, adjustsSequences: true });
  }
});

test("what the kernel does not tell is 0, and one that is not assured is known", () => {
  const tuples = KERNEL_MESSAGE.slice(0, KERNEL_MESSAGE.indexOf("08000300"));
  expect(parse(tuples)).toEqual({
    ...FLOW,
    id: 0,
    state: 0,
    isAssured: false,
    timeoutS: 0,
    flags: { original: 0, reply: 0 },
  });
});

test("flows of other protocols and zones are of others", () => {
  expect(parse(KERNEL_MESSAGE.replaceAll("05000100 06", "05000100 11"))).toBeUndefined();
  expect(parse(`${KERNEL_MESSAGE} 06001200 00050000`)).toBeUndefined();
});

test.each([
  { family: "v4", tuple: V4, bytes: `48000000 0101 0500 09000000 00000000 ${V4_TUPLE}` },
  { family: "v6", tuple: V6, bytes: `60000000 0101 0500 09000000 00000000 ${V6_TUPLE}` },
])("a question names one direction: $family", ({ tuple, bytes }) => {
  expect(written((writer) => writeTcpQuestion(writer, 9, tuple))).toBe(plain(bytes));
});

test("of several only the last asks for an acknowledgement", () => {
  const question = written((writer) => writeTcpQuestion(writer, 9, V4, false));
  expect(question).toBe(plain(`48000000 0101 0100 09000000 00000000 ${V4_TUPLE}`));
  const change = { tuple: V4, set: 0, clear: 0 };
  expect(written((writer) => writeTcpChange(writer, 9, change, false)).slice(8, 16)).toBe(
    "00010100",
  );
});

test("a change sets and clears flags of both directions, of a flow that is there", () => {
  const { beLiberal, dataUnacknowledged, maxAckSet } = TCP_FLAG;
  const change = { tuple: V4, set: beLiberal, clear: dataUnacknowledged | maxAckSet };
  const flags = "18000480 14000180 06000400 08380000 06000500 08380000";
  expect(written((writer) => writeTcpChange(writer, 9, change))).toBe(
    plain(`60000000 0001 0500 09000000 00000000 ${V4_TUPLE} ${flags}`),
  );
});

test("a change may give a time-out", () => {
  const change = { tuple: V6, set: 0, clear: TCP_FLAG.beLiberal, timeoutS: 300 };
  const flags = "18000480 14000180 06000400 00080000 06000500 00080000";
  expect(written((writer) => writeTcpChange(writer, 9, change))).toBe(
    plain(`80000000 0001 0500 09000000 00000000 ${V6_TUPLE} ${flags} 08000700 0000012c`),
  );
});
