import { expect, test } from "vitest";
import { eachBeginning } from "../../../test/support/each-split.ts";
import { seededBytes } from "../../../test/support/seeded-random.ts";
import type { HeadOutcome } from "./head-outcome.ts";
import type { RequestContext, ResponseHead } from "./response-head.ts";
import { ResponseParser } from "./response-parser.ts";

const GET: RequestContext = { method: "GET", asksUpgrade: false };

function parse(text: string, request = GET): HeadOutcome<ResponseHead> {
  const bytes = Buffer.from(text, "latin1");
  return new ResponseParser().parse(bytes, 0, bytes.length, request);
}

function headOf(text: string, request = GET): ResponseHead {
  const outcome = parse(text, request);
  if (outcome.kind !== "head") throw new Error(`no head: ${JSON.stringify(outcome)}`);
  return outcome.head;
}

const LENGTH = "Content-Length: 5\r\n";
const CHUNKS = "Transfer-Encoding: chunked\r\n";

test.each<[string, string, string, Partial<RequestContext>, boolean]>([
  ["200 OK", LENGTH, "length", {}, true],
  ["200 OK", "Content-Length: 0\r\n", "none", {}, true],
  ["200 OK", CHUNKS, "chunked", {}, true],
  ["200 OK", "", "until-close", {}, false],
  ["200 OK", `Connection: close\r\n${LENGTH}`, "length", {}, false],
  ["200 OK", LENGTH, "none", { method: "HEAD" }, true],
  ["200 OK", CHUNKS, "none", { method: "HEAD" }, true],
  ["204 No Content", LENGTH, "none", {}, true],
  ["304 Not Modified", LENGTH, "none", {}, true],
  ["100 Continue", LENGTH, "none", {}, true],
  ["200 OK", LENGTH, "tunnel", { method: "CONNECT" }, false],
  ["403 Forbidden", LENGTH, "length", { method: "CONNECT" }, true],
  ["101 Switching Protocols", "", "tunnel", { asksUpgrade: true }, false],
])("%s with %j has the body %s for %j", (status, fields, kind, request, keepsAlive) => {
  const head = headOf(`HTTP/1.1 ${status}\r\n${fields}\r\n`, { ...GET, ...request });
  expect(head.body.kind).toBe(kind);
  expect(head.keepsAlive).toBe(keepsAlive);
});

test("interim responses are told from the last one", () => {
  const isInterim = (status: number) =>
    headOf(`HTTP/1.1 ${status} x\r\n\r\n`, { ...GET, asksUpgrade: true }).isInterim;
  expect([100, 103, 101, 200, 500].map(isInterim)).toEqual([true, true, false, false, false]);
});

test("the reason may be missing", () => {
  expect(headOf("HTTP/1.0 404\r\n\r\n").status).toBe(404);
  expect(headOf("HTTP/1.0 404 \r\n\r\n").status).toBe(404);
  expect(headOf("HTTP/1.0 404 Nicht gef\xfcnden\r\n\r\n").status).toBe(404);
  expect(
    headOf("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\n").keepsAlive,
  ).toBe(true);
});

test.each([
  ["both lengths", `HTTP/1.1 200 OK\r\n${LENGTH}${CHUNKS}\r\n`],
  ["both lengths where there is no body", `HTTP/1.1 304 OK\r\n${LENGTH}${CHUNKS}\r\n`],
  ["two lengths", `HTTP/1.1 200 OK\r\n${LENGTH}${LENGTH}\r\n`],
  ["another coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"],
  ["chunked in 1.0", `HTTP/1.0 200 OK\r\n${CHUNKS}\r\n`],
  ["an upgrade that was not asked for", "HTTP/1.1 101 Switching\r\n\r\n"],
  ["two digits", "HTTP/1.1 20 OK\r\n\r\n"],
  ["four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
  ["status 099", "HTTP/1.1 099 OK\r\n\r\n"],
  ["no space", "HTTP/1.1200 OK\r\n\r\n"],
  ["another protocol", "ICY 200 OK\r\n\r\n"],
  ["a control character in the reason", "HTTP/1.1 200 O\x01K\r\n\r\n"],
  ["LF alone", "HTTP/1.1 200 OK\n\n"],
  ["a folded field", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n"],
])("%s is refused", (_name, text) => {
  expect(parse(text).kind).toBe("malformed");
});

test("a head that is not complete asks for more, at each boundary", () => {
  const sample = Buffer.from(`HTTP/1.1 200 OK\r\n${LENGTH}Server: x\r\n\r\n`);
  for (const beginning of eachBeginning(sample))
    expect(parse(beginning.toString()).kind).toBe("more");
});

test("random bytes never throw", () => {
  const noise = seededBytes(12, 10_000);
  for (let start = 0; start < noise.length; start += 10) {
    expect(["more", "malformed"]).toContain(
      new ResponseParser().parse(noise, start, Math.min(noise.length, start + 80), GET).kind,
    );
  }
});
