import { expect, test } from "vitest";
import { eachBeginning } from "../../../test/support/each-split.ts";
import { seededBytes } from "../../../test/support/seeded-random.ts";
import { DEFAULT_HTTP1_LIMITS } from "./http1-limits.ts";
import type { RequestHead } from "./request-head.ts";
import { RequestParser } from "./request-parser.ts";

const bytesOf = (text: string) => Buffer.from(text, "latin1");

function headOf(text: string): RequestHead {
  const bytes = bytesOf(text);
  const outcome = new RequestParser().parse(bytes, 0, bytes.length);
  if (outcome.kind !== "head") throw new Error(`no head: ${JSON.stringify(outcome)}`);
  return outcome.head;
}

/** The status that a request is refused with; 0 where it is not. */
function refusal(text: string, limits = DEFAULT_HTTP1_LIMITS): number {
  const bytes = bytesOf(text);
  const outcome = new RequestParser(limits).parse(bytes, 0, bytes.length);
  return outcome.kind === "malformed" ? outcome.status : 0;
}

const get = (fields: string) => `GET / HTTP/1.1\r\nHost: a.example\r\n${fields}\r\n`;

test("reads the example of RFC 9112", () => {
  const text =
    "GET /hello.txt?a=b HTTP/1.1\r\nUser-Agent: curl/7.64.1\r\nHost: www.example.com\r\nAccept-Language: en, mi\r\n\r\n";
  const head = headOf(`${text}rest`);
  expect(head.method).toBe("GET");
  expect(head.host).toBe("www.example.com");
  expect(head.path).toBe("/hello.txt");
  expect(head.end).toBe(text.length);
  expect(head.body).toEqual({ kind: "none" });
  expect(head.keepsAlive).toBe(true);
  const fields = Array.from({ length: head.fields.count }, (_, index) => [
    head.fields.name(index),
    head.fields.value(index),
  ]);
  expect(fields).toEqual([
    ["User-Agent", "curl/7.64.1"],
    ["Host", "www.example.com"],
    ["Accept-Language", "en, mi"],
  ]);
});

test.each<[string, string, string]>([
  ["GET /a/b?c", "h.example", "/a/b"],
  ["GET http://other.example:81/p?q", "other.example:81", "/p"],
  ["GET HTTPS://other.example", "other.example", "/"],
  ["GET http://other.example?q", "other.example", "/"],
  ["OPTIONS *", "h.example", ""],
  ["CONNECT other.example:443", "other.example:443", ""],
])("%s is for host %s and path %s", (start, host, path) => {
  const head = headOf(`${start} HTTP/1.1\r\nHost: h.example\r\n\r\n`);
  expect([head.host, head.path]).toEqual([host, path]);
});

test.each<[string, string]>([
  ["Content-Length: 5\r\n", '{"kind":"length","bytes":5}'],
  ["content-length:\t007 \r\n", '{"kind":"length","bytes":7}'],
  ["Content-Length: 0\r\n", '{"kind":"none"}'],
  ["Transfer-Encoding: Chunked\r\n", '{"kind":"chunked"}'],
])("%j announces the body %s", (fields, body) => {
  expect(JSON.stringify(headOf(get(fields)).body)).toBe(body);
});

test.each<[string, string, boolean]>([
  ["1.1", "", true],
  ["1.1", "Connection: close\r\n", false],
  ["1.1", "Connection: x, CLOSE ,y\r\n", false],
  ["1.1", "Connection: keep-alive\r\nConnection: close\r\n", false],
  ["1.0", "", false],
  ["1.0", "Connection: Keep-Alive\r\n", true],
])("HTTP/%s with %j: keeps alive %s", (version, fields, expected) => {
  const head = headOf(`GET / HTTP/${version}\r\nHost: a\r\n${fields}\r\n`);
  expect(head.keepsAlive).toBe(expected);
});

test("an upgrade needs both fields, and h2c is not passed on", () => {
  expect(headOf(get("Connection: Upgrade\r\nUpgrade: websocket\r\n")).upgrade).toBe("websocket");
  expect(headOf(get("Upgrade: websocket\r\n")).upgrade).toBe("");
  expect(headOf(get("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n")).upgrade).toBe("");
  expect(headOf(get("Connection: Upgrade\r\nUpgrade: foo, H2C\r\n")).upgrade).toBe("");
});

test("an expectation is known or refused", () => {
  expect(headOf(get("Expect: 100-Continue\r\n")).expectsContinue).toBe(true);
  expect(headOf(get("")).expectsContinue).toBe(false);
  expect(refusal(get("Expect: 200-ok\r\n"))).toBe(417);
});

test.each<[string, string, number]>([
  ["both lengths", get("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400],
  ["both lengths, the other way", get("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400],
  ["two lengths", get("Content-Length: 5\r\nContent-Length: 6\r\n"), 400],
  ["twice the same length", get("Content-Length: 5\r\nContent-Length: 5\r\n"), 400],
  ["a list of lengths", get("Content-Length: 5, 5\r\n"), 400],
  ["a signed length", get("Content-Length: +5\r\n"), 400],
  ["a negative length", get("Content-Length: -5\r\n"), 400],
  ["a hexadecimal length", get("Content-Length: 0x5\r\n"), 400],
  ["a length with a space in it", get("Content-Length: 5 5\r\n"), 400],
  ["an empty length", get("Content-Length:\r\n"), 400],
  ["a length above all numbers", get("Content-Length: 99999999999999999999\r\n"), 400],
  ["chunked twice", get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 501],
  ["chunked twice in a list", get("Transfer-Encoding: chunked, chunked\r\n"), 501],
  ["another coding", get("Transfer-Encoding: gzip, chunked\r\n"), 501],
  ["identity", get("Transfer-Encoding: identity\r\n"), 501],
  ["almost chunked", get("Transfer-Encoding: xchunked\r\n"), 501],
  ["chunked with vertical tab", get("Transfer-Encoding: \x0bchunked\r\n"), 400],
  ["an empty coding", get("Transfer-Encoding:\r\n"), 501],
  ["chunked in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400],
  ["white space before the colon", get("Content-Length : 5\r\n"), 400],
  ["a tab before the colon", get("Transfer-Encoding\t: chunked\r\n"), 400],
  ["a folded field", get("A: b\r\n c\r\n"), 400],
  ["a folded first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400],
  ["a line without colon", get("abc\r\n"), 400],
  ["an empty name", get(": b\r\n"), 400],
  ["NUL in a name", get("A\0: b\r\n"), 400],
  ["NUL in a value", get("A: b\0c\r\n"), 400],
  ["CR in a value", get("A: b\rTransfer-Encoding: chunked\r\n"), 400],
  ["DEL in a value", get("A: b\x7f\r\n"), 400],
  ["LF alone after a field", get("A: b\n"), 400],
  ["LF alone after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400],
  ["LF alone as the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\n", 400],
  ["no host", "GET / HTTP/1.1\r\nA: b\r\n\r\n", 400],
  ["no host beside a target with one", "GET http://a/ HTTP/1.1\r\nA: b\r\n\r\n", 400],
  ["two hosts", get("Host: a.example\r\n"), 400],
  ["a host with a user", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400],
  ["a host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400],
  ["a host with a space", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400],
  ["two spaces after the method", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a space before the method", " GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a space after the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400],
  ["no version", "GET /\r\nHost: a\r\n\r\n", 400],
  ["version 2.0", "PRI * HTTP/2.0\r\n\r\n", 505],
  ["version 1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505],
  ["version 1.10", "GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400],
  ["a version in lower case", "GET / http/1.1\r\nHost: a\r\n\r\n", 400],
  ["a byte above ASCII in the target", "GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a fragment", "GET /#a HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a relative target", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["another scheme", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a user in the target", "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["no host in the target", "GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["* for another method", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a path for CONNECT", "CONNECT /a HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["two empty lines first", `\r\n\r\n${get("")}`, 400],
])("%s is refused", (_name, text, status) => {
  expect(refusal(text)).toBe(status);
});

test("one empty line before a request is skipped", () => {
  const text = `\r\n${get("A: b\r\n")}`;
  expect(headOf(text).host).toBe("a.example");
  expect(headOf(text).end).toBe(text.length);
});

test("what is above the limits is refused, also before it is complete", () => {
  const limits = { ...DEFAULT_HTTP1_LIMITS, maxHeadBytes: 200, maxTargetBytes: 20, maxFields: 3 };
  expect(refusal(get("A: b\r\nC: d\r\n"), limits)).toBe(0);
  expect(refusal(get("A: b\r\nC: d\r\nE: f\r\n"), limits)).toBe(431);
  expect(refusal(`GET /${"a".repeat(20)} HTTP/1.1\r\nHost: a\r\n\r\n`, limits)).toBe(414);
  expect(refusal(get(`A: ${"b".repeat(200)}\r\n`), limits)).toBe(431);
  expect(refusal("x".repeat(201), limits)).toBe(431);
});

const SAMPLE =
  "POST /a/b?c HTTP/1.1\r\nHost: a.example:8080\r\nContent-Length: 3\r\nConnection: close\r\n\r\n";

test("a head that is not complete asks for more, at each boundary", () => {
  for (const beginning of eachBeginning(bytesOf(SAMPLE))) {
    expect(new RequestParser().parse(beginning, 0, beginning.length).kind).toBe("more");
  }
});

test("a head that comes byte by byte, and is moved meanwhile, is read as it is whole", () => {
  const parser = new RequestParser();
  for (let length = 0; length <= SAMPLE.length; length++) {
    const shift = length % 7;
    const bytes = bytesOf(`${"\n".repeat(shift)}${SAMPLE.slice(0, length)}\n\n`);
    const outcome = parser.parse(bytes, shift, shift + length);
    if (length < SAMPLE.length) expect(outcome.kind).toBe("more");
    else expect(outcome).toMatchObject({ kind: "head", head: { host: "a.example:8080" } });
  }
});

test("requests of one connection are read one after the other", () => {
  const parser = new RequestParser();
  const bytes = bytesOf(`${get("")}${SAMPLE}xyz${get("A: b\r\n")}`);
  const ends: number[] = [];
  let at = 0;
  for (const bodyBytes of [0, 3, 0]) {
    const outcome = parser.parse(bytes, at, bytes.length);
    if (outcome.kind !== "head") throw new Error(outcome.kind);
    ends.push(outcome.head.end);
    at = outcome.head.end + bodyBytes;
  }
  expect(at).toBe(bytes.length);
  expect(parser.parse(bytes, at, bytes.length).kind).toBe("more");
});

test("random bytes never throw and never read past their end", () => {
  const noise = seededBytes(11, 10_000);
  for (let start = 0; start < noise.length; start += 10) {
    const end = Math.min(noise.length, start + (start % 97));
    const outcome = new RequestParser().parse(noise, start, end);
    if (outcome.kind === "head") expect(outcome.head.end).toBeLessThanOrEqual(end);
  }
  const whole = new RequestParser().parse(noise, 0, noise.length);
  expect(whole.kind).toBe("malformed");
});

test("one changed byte never throws, and a head is never longer than it is", () => {
  const good = bytesOf(SAMPLE);
  for (let at = 0; at < good.length; at++) {
    for (const byte of [0, 0x0a, 0x0d, 0x20, 0x2c, 0x3a, 0xff]) {
      const bad = Buffer.from(good);
      bad[at] = byte;
      const outcome = new RequestParser().parse(bad, 0, bad.length);
      if (outcome.kind === "head") expect(outcome.head.end).toBe(good.length);
    }
  }
});
