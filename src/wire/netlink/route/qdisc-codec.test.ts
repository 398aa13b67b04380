import { expect, test } from "vitest";
import { NetlinkWriter } from "../netlink-writer.ts";
import { parseQdisc, writeQdiscDump } from "./qdisc-codec.ts";

const plain = (text: string): string => text.replaceAll(" ", "");

test("all queueing disciplines are asked for", () => {
  const writer = new NetlinkWriter();
  writeQdiscDump(writer, 7);
  expect(Buffer.from(writer.written()).toString("hex")).toBe(
    plain(`24000000 2600 0103 07000000 00000000 ${"00".repeat(20)}`),
  );
});

test("one of a listing is read: what the kernel says of clsact at link 3", () => {
  const text =
    "00000000 03000000 0000ffff f1ffffff 01000000 0b000100 636c7361 63740000 05000c00 00";
  const bytes = Uint8Array.from(Buffer.from(plain(text), "hex"));
  expect(parseQdisc(new DataView(bytes.buffer), 0, bytes.length)).toEqual({
    link: 3,
    kind: "clsact",
  });
});
