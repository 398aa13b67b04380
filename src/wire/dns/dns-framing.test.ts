import { expect, test } from "vitest";
import { eachSplit } from "../../../test/support/each-split.ts";
import { seededBytes } from "../../../test/support/seeded-random.ts";
import { DnsFraming, frameDnsMessage } from "./dns-framing.ts";

test("messages come out whole, however they are cut", () => {
  const messages = ["one", "", "three"].map((text) => Buffer.from(text));
  for (const parts of eachSplit(Buffer.concat(messages.map(frameDnsMessage)))) {
    const framing = new DnsFraming();
    const found = parts.flatMap((part) => framing.feed(part)).map(String);
    expect(found).toEqual(["one", "", "three"]);
  }
});

test("what is not whole waits, and does not change with the caller's memory", () => {
  const framing = new DnsFraming();
  const chunk = Buffer.from([0, 2, 1]);
  expect(framing.feed(chunk)).toEqual([]);
  chunk.fill(0xff);
  expect(framing.feed(Buffer.from([2]))).toEqual([Buffer.from([1, 2])]);
});

test("random bytes never throw", () => {
  const noise = seededBytes(32, 5000);
  for (let start = 0; start < noise.length; start += 50) {
    const framing = new DnsFraming();
    for (let at = start; at < noise.length; at += 97) framing.feed(noise.subarray(at, at + 97));
  }
  expect(new DnsFraming().feed(Buffer.from([0, 0]))).toHaveLength(1);
});
