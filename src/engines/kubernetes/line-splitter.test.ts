import { expect, test } from "vitest";
import { eachSplit } from "../../../test/support/each-split.ts";
import { LineSplitter } from "./line-splitter.ts";

test("lines come whole, wherever the bytes are cut; half of one stays", () => {
  for (const chunks of eachSplit(Buffer.from("one\r\n\ntwö\nthr"))) {
    const splitter = new LineSplitter(100);
    const lines = chunks.flatMap((chunk) => [...splitter.feed(chunk)]);
    expect(lines).toEqual(["one", "twö"]);
  }
});

test("a line has a limit, also one that never ends", () => {
  const splitter = new LineSplitter(10);
  expect([...splitter.feed(Buffer.from("12345\n"))]).toEqual(["12345"]);
  expect([...splitter.feed(Buffer.from("1234567"))]).toEqual([]);
  expect(() => [...splitter.feed(Buffer.from("89012"))]).toThrow("more than 10 bytes");
});
