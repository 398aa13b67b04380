import { encode } from "dns-packet";
import { expect, test } from "vitest";
import { readDnsName } from "./dns-name.ts";
import { readMdnsQuery } from "./mdns-query.ts";

const QUERY = encode({
  type: "query",
  id: 0,
  questions: [
    { type: "A", name: "Web.local" },
    { type: "AAAA", name: "rr.web.local" },
  ],
  answers: [
    { type: "A", name: "WEB.local", ttl: 4, data: "10.30.0.1" },
    { type: "AAAA", name: "web.local", ttl: 5, data: "fdff::1" },
    { type: "TXT", name: "web.local", ttl: 5, data: "x" },
  ],
});
/** A header for that many questions, and what follows. */
function message(questions: number, ...bytes: readonly number[]): Buffer {
  return Buffer.from([0, 0, 0, 0, 0, questions, 0, 0, 0, 0, 0, 0, ...bytes]);
}
const A_IN = [0, 1, 0, 1];
const AAAA_UNICAST = [0, 28, 0x80, 1];

test("questions, and the addresses that the asking one knows", () => {
  expect(readMdnsQuery(QUERY)).toEqual({
    questions: [
      { name: "Web.local", type: 1, wantsUnicast: false },
      { name: "rr.web.local", type: 28, wantsUnicast: false },
    ],
    known: [
      { name: "web.local", address: "10.30.0.1", ttlSeconds: 4 },
      { name: "web.local", address: "fdff::1", ttlSeconds: 5 },
    ],
  });
});

test("names that go on at another one, and the bit that asks for unicast", () => {
  // "a.b", and "c." followed by a pointer to the "b" at 14.
  const bytes = message(
    2,
    ...[1, 0x61, 1, 0x62, 0, ...A_IN],
    ...[1, 0x63, 0xc0, 14, ...AAAA_UNICAST],
  );
  expect(readMdnsQuery(bytes)?.questions).toEqual([
    { name: "a.b", type: 1, wantsUnicast: false },
    { name: "c.b", type: 28, wantsUnicast: true },
  ]);
});

test("a message that is cut anywhere is none, and nothing is thrown", () => {
  for (let length = 0; length < QUERY.length; length += 1) {
    expect(readMdnsQuery(QUERY.subarray(0, length)), `${length} bytes`).toBeUndefined();
  }
});

test.each([
  ["a circle", message(1, 0xc0, 12, ...A_IN)],
  ["a pointer forward", message(1, 0xc0, 14, 0, ...A_IN)],
  ["a pointer into the header", message(1, 0xc0, 4, ...A_IN)],
  ["a label of a kind that nobody knows", message(1, 0x41, ...new Array(70).fill(0x61), 0)],
  ["no question", message(0)],
  ["too many questions", message(33, ...new Array(33).fill([0, ...A_IN]).flat())],
])("%s is refused", (_, bytes) => {
  expect(readMdnsQuery(bytes)).toBeUndefined();
});

test("an answer of another one and another kind of message are not questions", () => {
  for (const flags of [0x8400, 0x2800]) {
    const other = Buffer.from(QUERY);
    other.writeUInt16BE(flags, 2);
    expect(readMdnsQuery(other)).toBeUndefined();
  }
});

test("questions of other classes are not answered", () => {
  expect(readMdnsQuery(message(1, 1, 0x61, 0, 0, 1, 0, 3))?.questions).toEqual([]);
});

test("a name that grows by pointers beyond what names may be is none", () => {
  const label = [63, ...new Array(63).fill(0x61)];
  const part = [...label, ...label, 0];
  const bytes = message(1, ...part, ...label, ...label, 0xc0, 12);
  expect(readDnsName(bytes, 12)?.name).toHaveLength(127);
  expect(readDnsName(bytes, 12 + part.length)).toBeUndefined();
});
