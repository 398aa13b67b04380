import { expect, test } from "vitest";
import { eachBeginning } from "../../../test/support/each-split.ts";
import { seededBytes } from "../../../test/support/seeded-random.ts";
import { peekRequest, type RequestPeek } from "./peek-request.ts";

const MAX = 1000;

function peek(text: string, maxBytes = MAX): RequestPeek {
  const bytes = Buffer.from(text, "latin1");
  return peekRequest(bytes, 0, bytes.length, maxBytes);
}

const request = (host: string, path: string) => ({ kind: "request", host, path });

test.each<[string, ReturnType<typeof request>]>([
  ["GET /a/b?c HTTP/1.1\r\nHost: a.example:80\r\n", request("a.example:80", "/a/b")],
  ["GET / HTTP/1.1\r\nAccept: */*\r\nhOST:\ta.example \r\nX", request("a.example", "/")],
  ["GET http://a.example/x HTTP/1.1\r\n", request("a.example", "/x")],
  ["GET / HTTP/1.0\r\nA: b\r\n\r\n", request("", "/")],
  ["GET / HTTP/1.1\r\nHost: a b\r\n\r\n", request("", "/")],
  ["OPTIONS * HTTP/1.1\r\nHost: a\r\n", request("a", "")],
])("%j", (text, expected) => {
  expect(peek(text)).toEqual(expected);
});

test.each([
  "SSH-2.0-OpenSSH\r\n",
  "\x16\x03\x01\x02",
  "\0",
  "GET\r\n",
  "HELO example\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "x".repeat(33),
])("%j is no HTTP/1", (text) => {
  expect(peek(text)).toEqual({ kind: "not-http" });
});

test("it asks for more at each boundary, until the host is known", () => {
  const text = Buffer.from("POST /path HTTP/1.1\r\nAccept: x\r\nHost: a.example\r\n");
  for (const beginning of eachBeginning(text)) {
    expect(peekRequest(beginning, 0, beginning.length, MAX).kind).toBe("more");
  }
  expect(peekRequest(text, 0, text.length, MAX).kind).toBe("request");
});

test("it looks no further than it is told", () => {
  const text = `GET /p HTTP/1.1\r\nA: ${"b".repeat(100)}`;
  expect(peek(text, 100)).toEqual(request("", "/p"));
  expect(peek(`GET /${"p".repeat(100)}`, 100)).toEqual({ kind: "not-http" });
});

test("random bytes never throw", () => {
  const noise = seededBytes(14, 10_000);
  for (let start = 0; start < noise.length; start += 10) {
    expect(["more", "not-http"]).toContain(peekRequest(noise, start, noise.length, MAX).kind);
  }
});
