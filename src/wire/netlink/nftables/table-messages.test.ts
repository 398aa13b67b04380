import { expect, test } from "vitest";
import { NetlinkWriter } from "../netlink-writer.ts";
import { isDormant, parseTable, writeWaking } from "./table-messages.ts";

function parse(hex: string) {
  const bytes = Buffer.from(hex.replaceAll(/\s/g, ""), "hex");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return parseTable(view, 0, bytes.length);
}

/** Attributes as the kernel writes them: table `fw`, used once, handle 1. */
const NAME = "0700 0100 6677 0000";
const FURTHER = "0800 0300 0000 0001  0c00 0400 0000 0000 0000 0001";

test.each([
  ["0800 0200 0000 0001", 1, true],
  ["0800 0200 0000 0003", 3, true],
  ["0800 0200 0000 0002", 2, false],
  ["0800 0200 0000 0000", 0, false],
])("reads a table: %s", (text, flags, dormant) => {
  const table = parse(`0a000000 ${NAME} ${text} ${FURTHER}`);
  expect(table).toEqual({ family: "ip6", name: "fw", flags });
  expect(table && isDormant(table)).toBe(dormant);
});

test("passes over families that nobody knows", () => {
  expect(parse(`63000000 ${NAME}`)).toBeUndefined();
});

test("tables are woken in one transaction, and keep their other flags", () => {
  const writer = new NetlinkWriter();
  writeWaking(writer, 5, [
    { family: "ip", name: "a", flags: 1 },
    { family: "ip6", name: "b", flags: 5 },
  ]);
  expect(Buffer.from(writer.written()).toString("hex")).toBe(
    [
      "14000000 1000 0100 06000000 00000000 0000000a",
      "24000000 000a 0100 05000000 00000000 02000000 06000100 61000000 08000200 00000000",
      "24000000 000a 0500 06000000 00000000 0a000000 06000100 62000000 08000200 00000004",
      "14000000 1100 0100 06000000 00000000 0000000a",
    ]
      .join("")
      .replaceAll(" ", ""),
  );
});
