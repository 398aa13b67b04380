import { expect, test } from "vitest";
import { HeadWriter } from "./head-writer.ts";
import { renderPlainResponse } from "./plain-response.ts";
import { RequestParser } from "./request-parser.ts";
import { ResponseParser } from "./response-parser.ts";
import { type RequestForwarding, writeRequest } from "./write-request.ts";
import { type ResponseForwarding, writeResponse } from "./write-response.ts";

const FORWARDING: RequestForwarding = {
  peer: "10.1.1.1",
  scheme: "https",
  trustsPeer: false,
  keepAlive: true,
};

function forward(lines: readonly string[], options: Partial<RequestForwarding> = {}): string[] {
  const bytes = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  const outcome = new RequestParser().parse(bytes, 0, bytes.length);
  if (outcome.kind !== "head") throw new Error(JSON.stringify(outcome));
  const writer = new HeadWriter();
  writeRequest(writer, outcome.head, { ...FORWARDING, ...options });
  return linesOf(writer.bytes);
}

function answer(
  lines: readonly string[],
  options: Partial<ResponseForwarding> = {},
  asksUpgrade = false,
): string[] {
  const bytes = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  const request = { method: "GET", asksUpgrade };
  const outcome = new ResponseParser().parse(bytes, 0, bytes.length, request);
  if (outcome.kind !== "head") throw new Error(JSON.stringify(outcome));
  const writer = new HeadWriter();
  writeResponse(writer, outcome.head, { keepAlive: true, clientMinorVersion: 1, ...options });
  return linesOf(writer.bytes);
}

function linesOf(bytes: Buffer): string[] {
  const text = bytes.toString("latin1");
  expect(text.endsWith("\r\n\r\n")).toBe(true);
  return text.slice(0, -4).split("\r\n");
}

const ADDED = ["X-Forwarded-For: 10.1.1.1", "X-Forwarded-Proto: https"];

test("a request passes as it is, with the client's address", () => {
  const request = ["POST /a?b HTTP/1.1", "Host: a.example", "content-LENGTH:  5", "X-Name: \xe9"];
  expect(forward(request)).toEqual([...request, ...ADDED]);
});

test("what is for one hop only is taken out, and what Connection nominates", () => {
  const request = [
    "GET / HTTP/1.1",
    "Connection: keep-alive, X-Secret, close, host",
    "X-Secret: 1",
    "Keep-Alive: timeout=5",
    "Host: a.example",
    "Proxy-Connection: keep-alive",
    "TE: trailers",
    "HTTP2-Settings: x",
    "Upgrade: h2c",
    "A: b",
  ];
  expect(forward(request)).toEqual(["GET / HTTP/1.1", "Host: a.example", "A: b", ...ADDED]);
});

test("the framing stays, whoever nominates it", () => {
  const request = ["POST / HTTP/1.1", "Host: a", "Connection: content-length, transfer-encoding"];
  expect(forward([...request, "Content-Length: 5"])).toContain("Content-Length: 5");
  expect(forward([...request, "Transfer-Encoding: chunked"])).toContain(
    "Transfer-Encoding: chunked",
  );
});

test("what a stranger says about earlier hops is replaced", () => {
  const claims = [
    "X-Forwarded-For: 1.2.3.4",
    "x-forwarded-for: 5.6.7.8",
    "X-Forwarded-Proto: http",
    "X-Forwarded-Host: evil.example",
    "X-Forwarded-Port: 1",
    "Forwarded: for=1.2.3.4",
  ];
  const request = ["GET / HTTP/1.1", "Host: a", ...claims];
  expect(forward(request)).toEqual(["GET / HTTP/1.1", "Host: a", ...ADDED]);
});

test("what a trusted hop says is kept, and this one added", () => {
  const request = [
    "GET / HTTP/1.1",
    "X-Forwarded-For: 1.2.3.4",
    "Host: a",
    "X-Forwarded-Proto: http",
    "x-forwarded-for: 5.6.7.8, 9.9.9.9",
  ];
  expect(forward(request, { trustsPeer: true })).toEqual([
    "GET / HTTP/1.1",
    "Host: a",
    "X-Forwarded-Proto: http",
    "X-Forwarded-For: 1.2.3.4, 5.6.7.8, 9.9.9.9, 10.1.1.1",
  ]);
  expect(forward(["GET / HTTP/1.1", "Host: a"], { trustsPeer: true })).toEqual([
    "GET / HTTP/1.1",
    "Host: a",
    ...ADDED,
  ]);
});

test("a client without an address is not told", () => {
  const request = ["GET / HTTP/1.1", "Host: a"];
  expect(forward(request, { peer: "" })).toEqual([...request, "X-Forwarded-Proto: https"]);
  const told = [...request, "X-Forwarded-For: 1.2.3.4"];
  expect(forward(told, { peer: "", trustsPeer: true })).toContain("X-Forwarded-For: 1.2.3.4");
});

test("an upgrade passes", () => {
  const request = [
    "GET /ws HTTP/1.1",
    "Host: a",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
  ];
  expect(forward(request)).toEqual([
    "GET /ws HTTP/1.1",
    "Host: a",
    "Sec-WebSocket-Version: 13",
    "Connection: upgrade",
    "Upgrade: websocket",
    ...ADDED,
  ]);
});

test("a target with a host becomes a path and a Host field", () => {
  const firstLines = (target: string, method = "GET") =>
    forward([`${method} ${target} HTTP/1.1`, "Host: other", "A: b"]).slice(0, 3);
  expect(firstLines("http://a.example:81/p?q")).toEqual([
    "GET /p?q HTTP/1.1",
    "Host: a.example:81",
    "A: b",
  ]);
  expect(firstLines("http://a.example?q")[0]).toBe("GET /?q HTTP/1.1");
  expect(firstLines("http://a.example")[0]).toBe("GET / HTTP/1.1");
  expect(firstLines("http://a.example", "OPTIONS")[0]).toBe("OPTIONS * HTTP/1.1");
});

test("the server is told whether the connection stays", () => {
  const old = ["GET / HTTP/1.0", "Host: a"];
  expect(forward(old)).toContain("Connection: keep-alive");
  expect(forward(old, { keepAlive: false })).toContain("Connection: close");
  expect(forward(["GET / HTTP/1.1", "Host: a"], { keepAlive: false })).toContain(
    "Connection: close",
  );
});

test("a response passes as it is, without what is for one hop", () => {
  const response = [
    "HTTP/1.1 200 Fine",
    "Connection: close, X-Hop",
    "X-Hop: 1",
    "Keep-Alive: 5",
    "Transfer-Encoding: chunked",
    "Set-Cookie: a",
    "Set-Cookie: b",
  ];
  expect(answer(response)).toEqual([
    "HTTP/1.1 200 Fine",
    "Transfer-Encoding: chunked",
    "Set-Cookie: a",
    "Set-Cookie: b",
  ]);
  expect(answer(response, { keepAlive: false }).at(-1)).toBe("Connection: close");
  expect(answer(response, { clientMinorVersion: 0 }).at(-1)).toBe("Connection: keep-alive");
});

test("a body that ends with the connection closes the client's too", () => {
  expect(answer(["HTTP/1.1 200 OK"])).toEqual(["HTTP/1.1 200 OK", "Connection: close"]);
});

test("responses without a body announce none", () => {
  expect(answer(["HTTP/1.1 204 No", "Content-Length: 5"])).toEqual(["HTTP/1.1 204 No"]);
  expect(
    answer(["HTTP/1.1 100 Continue", "Transfer-Encoding: chunked"], { keepAlive: false }),
  ).toEqual(["HTTP/1.1 100 Continue"]);
  expect(answer(["HTTP/1.1 304 Same", "Content-Length: 5"])).toContain("Content-Length: 5");
});

test("a change of protocol passes", () => {
  const lines = ["HTTP/1.1 101 Switching", "Upgrade: websocket", "Connection: upgrade", "A: b"];
  expect(answer(lines, {}, true)).toEqual([
    "HTTP/1.1 101 Switching",
    "A: b",
    "Connection: upgrade",
    "Upgrade: websocket",
  ]);
});

test("what was written is a good request again, and a large one too", () => {
  const large = ["GET / HTTP/1.1", "Host: a", `A: ${"b".repeat(10_000)}`];
  const again = forward(forward(large), { trustsPeer: true });
  expect(again).toEqual([
    ...large,
    "X-Forwarded-Proto: https",
    "X-Forwarded-For: 10.1.1.1, 10.1.1.1",
  ]);
});

test("a writer is used again", () => {
  const writer = new HeadWriter();
  writer.text("first");
  writer.reset();
  writer.copy(Buffer.from("xabcx"), 1, 4);
  expect(writer.bytes.toString()).toBe("abc");
});

test("the proxy's own responses are complete", () => {
  expect(renderPlainResponse(502).toString()).toBe(
    "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
  );
});
