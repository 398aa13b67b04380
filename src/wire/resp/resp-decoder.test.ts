import { expect, test } from "vitest";
import { eachBeginning, eachSplit } from "../../../test/support/each-split.ts";
import { seededBytes, seededRandom } from "../../../test/support/seeded-random.ts";
import { RespDecoder, type RespEvent, type RespLimits } from "./resp-decoder.ts";

const LIMITS: RespLimits = { maxMessageBytes: 100, maxElements: 4 };

/** What a client's bytes lead to, in words; the same however they are cut. */
function eventsOf(bytes: string | Buffer, limits: RespLimits = LIMITS): readonly string[] {
  const outcomes = new Map<string, readonly string[]>();
  for (const parts of eachSplit(Buffer.from(bytes))) {
    const words = feedAll(parts, limits).map(wordOf);
    outcomes.set(words.join("|"), words);
  }
  expect([...outcomes.keys()]).toHaveLength(1);
  return [...outcomes.values()][0] ?? [];
}

function feedAll(parts: readonly Buffer[], limits: RespLimits): readonly RespEvent[] {
  const decoder = new RespDecoder(limits);
  const events: RespEvent[] = [];
  for (const part of parts) {
    if (decoder.isDone) break;
    // The memory of a chunk is the caller's: it may hold something else by the next one.
    const chunk = Buffer.from(part);
    events.push(...decoder.feed(chunk));
    chunk.fill(0xa5);
  }
  return events;
}

function wordOf(event: RespEvent): string {
  switch (event.kind) {
    case "words":
      return `words ${JSON.stringify(event.words)}`;
    case "line":
      return `line ${event.line}`;
    case "not-text":
      return `not-text ${event.words.map((word) => word.toString("hex")).join(" ")}`;
    case "failed":
      return `failed ${event.reason}`;
    case "http":
      return "http";
  }
}

test("arrays of bulk strings, one after the other", () => {
  expect(
    eventsOf("*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nlist\r\n$6\r\ntcp-lb\r\n*1\r\n$0\r\n\r\n"),
  ).toEqual(['words ["PING"]', 'words ["list","tcp-lb"]', 'words [""]']);
});

test("words hold spaces, ends of lines and what looks like framing; lengths are bytes", () => {
  expect(eventsOf("*3\r\n$4\r\na\r\nb\r\n$6\r\n$1 * \n\r\n$7\r\n\u00e4\u20ac c\r\n")).toEqual([
    `words ${JSON.stringify(["a\r\nb", "$1 * \n", "\u00e4\u20ac c"])}`,
  ]);
});

test("lines, and arrays between them; blank ones ask for nothing", () => {
  expect(eventsOf("PING\r\n\r\n  list  tcp-lb \n*1\r\n$1\r\nx\r\n\n\u00e4\n")).toEqual([
    "line PING",
    "line list  tcp-lb",
    'words ["x"]',
    "line \u00e4",
  ]);
});

test("an array of nothing is an empty command", () => {
  expect(eventsOf("*0\r\n*-1\r\n")).toEqual(["words []", "words []"]);
});

test("what is no text is told, and the next command is read", () => {
  const bytes = Buffer.concat([
    Buffer.from("*2\r\n$1\r\na\r\n$1\r\n"),
    Buffer.from([0xff]),
    Buffer.from("\r\nx"),
    Buffer.from([0xc3, 0x28]),
    Buffer.from("\nPING\n"),
  ]);
  expect(eventsOf(bytes)).toEqual(["not-text 61 ff", "not-text 78c328", "line PING"]);
});

test.each([
  ["GET / HTTP/1.1\r\nHost: 127.0.0.1:16309\r\n\r\n"],
  ["POST /x HTTP/1.1\r\n"],
  ["post / "],
  ["Host: a.example\r\n"],
  ["PRI * HTTP/2.0\r\n\r\n"],
  ["BREW /pot HTTP/1.1\r\nHost: a.example\r\n\r\nPING\r\n"],
])("%j is HTTP, and nothing after it is read", (text) => {
  expect(eventsOf(text)).toEqual(["http"]);
});

test("a request that comes later is HTTP all the same", () => {
  expect(eventsOf("PING\r\nGET / HTTP/1.1\r\nPING\r\n")).toEqual(["line PING", "http"]);
});

test.each([
  ["a nested array", "*1\r\n*1\r\n", /"\*" in an array; expected "\$"/],
  ["a number in an array", "*1\r\n:1\r\n", /":" in an array/],
  ["a null in an array", "*1\r\n$-1\r\n", /no number from 0 on/],
  ["no length of an array", "*\r\n", /length of an array/],
  ["a strange length of an array", "*1x\r\n", /length of an array/],
  ["a huge length of an array", `*${"9".repeat(20)}\r\n`, /length of an array/],
  ["too many words", "*5\r\n", /an array of 5 words; expected at most 4/],
  ["no length of a word", "*1\r\n$\r\n", /length of a bulk string/],
  ["a word that is longer than it says", "*1\r\n$1\r\nab\r\n", /not over after its 1 bytes/],
  ["a header without an end", `*${"1".repeat(60)}`, /header has at most 32 bytes/],
  ["a word over the limit", "*1\r\n$91\r\n", /at most 100 bytes/],
  ["a command over the limit", `*2\r\n$60\r\n${"a".repeat(60)}\r\n$30\r\n`, /at most 100 bytes/],
  ["a line over the limit", "a".repeat(101), /at most 100 bytes/],
  ["a whole line over the limit", `${"a".repeat(101)}\n`, /at most 100 bytes/],
  ["TLS", Buffer.from([0x16, 0x03, 0x01]), /byte 22 begins no command/],
])("%s is refused", (_name, bytes, reason) => {
  const events = eventsOf(bytes);
  expect(events).toHaveLength(1);
  expect(events[0]).toMatch(/^failed /);
  expect(events[0]).toMatch(reason);
});

test("what is just within the limits is read", () => {
  const word = "a".repeat(89);
  expect(eventsOf(`*1\r\n$89\r\n${word}\r\n`)).toEqual([`words ["${word}"]`]);
  expect(eventsOf(`*4\r\n${"$1\r\na\r\n".repeat(4)}PING\n`)).toEqual([
    'words ["a","a","a","a"]',
    "line PING",
  ]);
  expect(eventsOf(`${"a".repeat(98)}\r\n`)).toEqual([`line ${"a".repeat(98)}`]);
});

test("a command that is cut off is none", () => {
  const whole = Buffer.from("*2\r\n$4\r\nlist\r\n$6\r\ntcp-lb\r\n");
  for (const beginning of eachBeginning(whole)) {
    const decoder = new RespDecoder(LIMITS);
    expect(decoder.feed(beginning)).toEqual([]);
    expect(decoder.isDone).toBe(false);
  }
});

test("a large command in single bytes", () => {
  const word = "x".repeat(60_000);
  const bytes = Buffer.from(`*1\r\n$60000\r\n${word}\r\n`);
  const decoder = new RespDecoder();
  const events: RespEvent[] = [];
  for (let at = 0; at < bytes.length; at += 1)
    events.push(...decoder.feed(bytes.subarray(at, at + 1)));
  expect(events).toEqual([{ kind: "words", words: [word] }]);
});

test("random bytes never throw, and give the same however they are cut", () => {
  const random = seededRandom(7);
  const noise = seededBytes(8, 20_000);
  const pieces = ["*", "$", "\r\n", "1", "2", "-", "a", " ", "PING", "GET ", "\n", "3\r\nabc\r\n"];
  for (let round = 0; round < 5000; round += 1) {
    const bytes =
      round % 2 === 0
        ? noise.subarray(round, round + 1 + Math.floor(random() * 200))
        : Buffer.from(
            Array.from({ length: 12 }, () => pieces[Math.floor(random() * pieces.length)]).join(""),
          );
    const cut = Math.floor(random() * bytes.length);
    const whole = feedAll([bytes], LIMITS);
    expect(feedAll([bytes.subarray(0, cut), bytes.subarray(cut)], LIMITS)).toEqual(whole);
  }
});
