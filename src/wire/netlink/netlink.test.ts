import fc from "fast-check";
import { expect, test } from "vitest";
import { AttributeCursor } from "./attribute-cursor.ts";
import type { NetlinkFailure } from "./netlink-failure.ts";
import { NLM_F_ACK, NLM_F_REQUEST } from "./netlink-words.ts";
import { NetlinkWriter } from "./netlink-writer.ts";
import { ReplyReader } from "./reply-reader.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const viewOf = (text: string): DataView => {
  const bytes = Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));
  return new DataView(bytes.buffer);
};

test("messages stand one behind the other, attributes padded and nested", () => {
  const writer = new NetlinkWriter();
  writer.message({ type: 0x0102, flags: NLM_F_REQUEST, sequence: 7 }, () => {
    writer.header([2, 0, 0, 0]);
    writer.nested(1, () => {
      writer.u8(1, 17);
      writer.be16(3, 53);
    });
    writer.u32(4, 0x01020304);
  });
  writer.message({ type: 3, flags: NLM_F_REQUEST | NLM_F_ACK, sequence: 8 }, () => {
    writer.text(2, "eth0");
  });
  expect(hex(writer.written())).toBe(
    [
      "30000000 0201 0100 07000000 00000000 02000000",
      "14000180 05000100 11000000 06000300 00350000",
      "08000400 04030201",
      "1c000000 0300 0500 08000000 00000000",
      "09000200 65746830 00000000",
    ]
      .join("")
      .replaceAll(" ", ""),
  );
});

test("a writer grows, and forgets nothing but what it is told to", () => {
  const writer = new NetlinkWriter();
  const big = new Uint8Array(5000).fill(0xa5);
  writer.message({ type: 1, flags: 0, sequence: 1 }, () => writer.bytes(1, big));
  expect(writer.written()).toHaveLength(16 + 4 + 5000);
  expect(writer.written().subarray(20)).toEqual(big);
  writer.clear();
  writer.message({ type: 1, flags: 0, sequence: 1 }, () => writer.u8(1, 1));
  expect(hex(writer.written().subarray(16))).toBe("0500010001000000");
});

test("attributes are read back, and one that claims too much ends the walk", () => {
  const view = viewOf("05000100 11000000 06000380 00350000 ff000400 00000000");
  const cursor = new AttributeCursor();
  cursor.enter(view, 0, view.byteLength);
  const seen: [number, number][] = [];
  while (cursor.next()) seen.push([cursor.type, cursor.type === 1 ? cursor.u8() : cursor.be16()]);
  expect(seen).toEqual([
    [1, 17],
    [3, 53],
  ]);
  expect(cursor.be32()).toBe(0);
});

/** A header, and an error of four bytes. */
const ERROR_OF = (sequence: string, errno: string, flags = "0000"): string =>
  `24000000 0200 ${flags} ${sequence} 00000000 ${errno} 14000000 0201 0500 ${sequence} 00000000`;

test("a batch ends with the acknowledgement of its last request; what failed is told", () => {
  const reader = new ReplyReader(5, 7, () => expect.unreachable());
  reader.feed(viewOf(ERROR_OF("06000000", "feffffff")));
  expect(reader.isDone).toBe(false);
  reader.feed(viewOf(ERROR_OF("07000000", "00000000")));
  expect(reader.isDone).toBe(true);
  expect(reader.failures).toEqual([
    { sequence: 6, errno: 2, text: "", refusedAt: undefined, missingType: undefined },
  ] satisfies NetlinkFailure[]);
});

test("answers to requests that nobody waits for are passed over", () => {
  const reader = new ReplyReader(5, 5, () => undefined);
  reader.feed(viewOf(ERROR_OF("04000000", "ffffffff")));
  expect(reader).toMatchObject({ isDone: false, failures: [] });
});

test("the extended part of an error is read: words, offset, what is missing", () => {
  const reader = new ReplyReader(5, 5, () => undefined);
  // Capped and with attributes: the echo is the header alone.
  const echo = "14000000 0201 0500 05000000 00000000";
  const more = "0a000100 6e6f20 78 7900 0000 08000200 18000000 08000500 03000000";
  reader.feed(viewOf(`40000000 0200 0003 05000000 00000000 eaffffff ${echo} ${more}`));
  expect(reader.failures).toEqual([
    { sequence: 5, errno: 22, text: "no xy", refusedAt: 24, missingType: 3 },
  ]);
});

test("a dump comes in parts over several datagrams; an interrupted one is told", () => {
  const seen: number[] = [];
  const reader = new ReplyReader(1, 1, (view, from, to, type) => {
    expect([to - from, type]).toEqual([4, 0x0100]);
    seen.push(view.getUint32(from, true));
  });
  const part = (value: string, flags = "0200") =>
    `14000000 0001 ${flags} 01000000 00000000 ${value}`;
  reader.feed(viewOf(part("01000000") + part("02000000")));
  reader.feed(viewOf(part("03000000", "1200")));
  expect(reader).toMatchObject({ isDone: false, isInterrupted: true });
  reader.feed(viewOf("14000000 0300 0200 01000000 00000000 00000000"));
  expect(reader).toMatchObject({ isDone: true, failures: [] });
  expect(seen).toEqual([1, 2, 3]);
});

test("a dump that ends with an error says so", () => {
  const reader = new ReplyReader(1, 1, () => undefined);
  reader.feed(viewOf("14000000 0300 0200 01000000 00000000 f4ffffff"));
  expect(reader.isDone).toBe(true);
  expect(reader.failures).toMatchObject([{ errno: 12 }]);
});

test("no bytes make a reader throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const copy = Uint8Array.from(bytes);
      const reader = new ReplyReader(0, 0xffff_ffff, (view, from, to) => {
        const cursor = new AttributeCursor();
        cursor.enter(view, from, to);
        while (cursor.next()) cursor.be32();
      });
      reader.feed(new DataView(copy.buffer));
    }),
  );
});
