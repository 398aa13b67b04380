import { expect, test } from "vitest";
import { eachSplit } from "../../../test/support/each-split.ts";
import { seededBytes } from "../../../test/support/seeded-random.ts";
import type { BodyFraming } from "./body-framing.ts";
import { CHUNKED, NO_BODY, TUNNEL, UNTIL_CLOSE } from "./body-framing.ts";
import { BodyPassage } from "./body-passage.ts";
import { DEFAULT_HTTP1_LIMITS } from "./http1-limits.ts";

/** How many of the bytes belong to the body, however they are cut; or the status it is refused with. */
function passed(framing: BodyFraming, text: string): number | string {
  const results = new Set<number | string>();
  for (const parts of eachSplit(Buffer.from(text, "latin1")))
    results.add(passParts(framing, parts));
  expect(results.size).toBe(1);
  return [...results][0] ?? "nothing";
}

function passParts(framing: BodyFraming, parts: readonly Buffer[]): number | string {
  const passage = new BodyPassage();
  passage.begin(framing);
  let total = 0;
  for (const part of parts) {
    const end = passage.pass(part, 0, part.length);
    if (typeof end !== "number") return `refused: ${end.reason}`;
    total += end;
    if (end < part.length) break;
  }
  return passage.isDone ? total : `open after ${total}`;
}

test("a body of known length ends there", () => {
  expect(passed({ kind: "length", bytes: 5 }, "hello, next")).toBe(5);
  expect(passed({ kind: "length", bytes: 12 }, "hello")).toBe("open after 5");
  expect(passed(NO_BODY, "GET")).toBe(0);
});

test("a body until the close never ends by itself", () => {
  for (const framing of [UNTIL_CLOSE, TUNNEL]) {
    expect(passed(framing, "anything")).toBe("open after 8");
    const passage = new BodyPassage();
    passage.begin(framing);
    expect(passage.mayEndHere).toBe(true);
    expect(passage.blindBytes).toBe(Number.POSITIVE_INFINITY);
  }
});

test.each([
  ["0\r\n\r\n"],
  ["5\r\nhello\r\n0\r\n\r\n"],
  ["4\r\nWiki\r\n7\r\npedia i\r\nB\r\nn \r\nchunks.\r\n0\r\n\r\n"],
  ["00005\r\nhello\r\n000\r\n\r\n"],
  ["a\r\n0123456789\r\n0\r\n\r\n"],
  ['5;name=value;other="a b"\r\nhello\r\n0;x\r\n\r\n'],
  ["5\r\n\r\n0\r\n\r\n0\r\n\r\n"],
  ["0\r\nTrailer: value\r\nOther:\r\n\r\n"],
])("the chunked body %j ends where it ends", (body) => {
  expect(passed(CHUNKED, `${body}GET / HTTP/1.1`)).toBe(body.length);
  expect(passed(CHUNKED, body.slice(0, -1))).toBe(`open after ${body.length - 1}`);
});

test.each([
  ["no digits", "\r\n"],
  ["a sign", "+5\r\nhello\r\n"],
  ["a prefix", "0x5\r\nhello\r\n"],
  ["white space before the size", " 5\r\nhello\r\n"],
  ["white space after the size", "5 \r\nhello\r\n"],
  ["LF alone after the size", "5\nhello\r\n"],
  ["CR alone after the size", "5\rhello\r\n"],
  ["LF alone after an extension", "5;a\nhello\r\n0\r\n\r\n"],
  ["CR alone in an extension", "5;a\rb\r\nhello"],
  ["NUL in an extension", "5;a\0\r\nhello"],
  ["more data than the size says", "5\r\nhello!\r\n"],
  ["LF alone after the data", "5\r\nhello\n0\r\n\r\n"],
  ["a size above all numbers", "fffffffffffffff\r\n"],
  ["a size that would wrap around", "10000000000000005\r\nhello\r\n"],
  ["a folded trailer", "0\r\nA: b\r\n c\r\n\r\n"],
  ["white space before the colon of a trailer", "0\r\nA : b\r\n\r\n"],
  ["a trailer without colon", "0\r\nabc\r\n\r\n"],
  ["LF alone after a trailer", "0\r\nA: b\n\r\n"],
  ["LF alone at the end", "0\r\n\n"],
  ["CR alone at the end", "0\r\n\rX"],
])("%s is refused", (_name, body) => {
  expect(passed(CHUNKED, body)).toMatch(/^refused/);
});

test("extensions and trailers together have a limit, over all chunks", () => {
  const passage = new BodyPassage({ ...DEFAULT_HTTP1_LIMITS, maxChunkOverheadBytes: 10 });
  const pass = (text: string) => passage.pass(Buffer.from(text), 0, text.length);
  passage.begin(CHUNKED);
  expect(pass("1;aaaa\r\nx\r\n1;aaaa\r\nx\r\n")).toBe(22);
  expect(pass("1;aaa\r\n")).toMatchObject({ kind: "malformed", status: 431 });
  passage.begin(CHUNKED);
  expect(pass("0\r\nA: bbbbbbbbbbbb\r\n")).toMatchObject({ kind: "malformed", status: 431 });
});

test("data may pass unseen, and only data", () => {
  const passage = new BodyPassage();
  passage.begin(CHUNKED);
  expect(passage.blindBytes).toBe(0);
  expect(passage.pass(Buffer.from("10\r\nab"), 0, 6)).toBe(6);
  expect(passage.blindBytes).toBe(14);
  passage.moved(10);
  passage.moved(4);
  expect(passage.blindBytes).toBe(0);
  expect(passage.mayEndHere).toBe(false);
  expect(passage.pass(Buffer.from("\r\n0\r\n\r\n"), 0, 7)).toBe(7);
  expect(passage.isDone).toBe(true);
  passage.begin({ kind: "length", bytes: 10 });
  passage.moved(9);
  expect([passage.blindBytes, passage.isDone]).toEqual([1, false]);
});

test("random bytes never throw", () => {
  const noise = seededBytes(13, 10_000);
  for (let start = 0; start < noise.length; start += 3) {
    const passage = new BodyPassage();
    passage.begin(CHUNKED);
    passage.pass(noise, start, noise.length);
  }
  expect(passParts(CHUNKED, [noise])).toMatch(/^refused/);
});
