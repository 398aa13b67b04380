import { expect, test } from "vitest";
import type { OpeningStep } from "../openings/opening.ts";
import { HttpProxyOpening } from "./http-proxy-opening.ts";

function feed(text: string, pieceBytes = text.length): OpeningStep {
  const opening = new HttpProxyOpening(() => "the script");
  let step: OpeningStep = { kind: "more" };
  for (let at = 0; at < text.length && step.kind === "more"; at += pieceBytes) {
    step = opening.feed(Buffer.from(text.slice(at, at + pieceBytes), "latin1"));
  }
  return step;
}

test.each([1, 7, 1000])("CONNECT says where to, also in pieces of %d bytes", (pieceBytes) => {
  const step = feed("CONNECT Example.COM:443 HTTP/1.1\r\nHost: x:1\r\n\r\n", pieceBytes);
  expect(step).toMatchObject({
    kind: "done",
    introduction: { wanted: { host: "example.com", isName: true, port: 443 }, asked: "connect" },
  });
});

test("what follows CONNECT is for the target", () => {
  const step = feed("CONNECT [::1]:22 HTTP/1.1\r\nHost: x\r\n\r\nSSH-2.0");
  expect(step).toMatchObject({
    introduction: { wanted: { host: "::1", isName: false, port: 22 } },
    rest: Buffer.from("SSH-2.0"),
  });
});

test("a request with its host in the target goes on as one to that host alone", () => {
  const step = feed("GET http://a.example/x?y HTTP/1.1\r\nHost: a.example\r\n\r\n");
  expect(step).toMatchObject({
    kind: "done",
    introduction: { wanted: { host: "a.example", port: 80 }, asked: "http" },
  });
  const rest = step.kind === "done" ? step.rest.toString("latin1") : "";
  expect(rest).toMatch(/^GET \/x\?y HTTP\/1\.1\r\n/);
  expect(rest).toMatch(/\r\nHost: a\.example\r\n/i);
  // The next request may be for another host, and would not come here.
  expect(rest).toMatch(/\r\nConnection: close\r\n/i);
});

test.each([
  ["GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", ""],
  ["POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe", "llo"],
  ["POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", ""],
  [
    "POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
    "llo\r\n0\r\n\r\n",
  ],
  ["GET http://a/ HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", ""],
])("of a request that goes on, as much is passed as belongs to it (%#)", (text, more) => {
  const step = feed(text);
  const passage = step.kind === "done" ? step.introduction.passage : undefined;
  const bytes = Buffer.from(`${more}GET http://b/`);
  expect(passage?.pass(bytes, 0, bytes.length)).toBe(more.length);
});

test.each(["Content-Length: 5", "Transfer-Encoding: chunked"])(
  "%s goes on, whatever Connection says of it",
  (field) => {
    const [name = ""] = field.split(":");
    const head = `POST http://a/ HTTP/1.1\r\nHost: a\r\nConnection: ${name}, x-own\r\nX-Own: 1\r\n`;
    const step = feed(`${head}${field}\r\n\r\n`);
    const rest = step.kind === "done" ? step.rest.toString("latin1") : "";
    expect(rest).toContain(`\r\n${field}\r\n`);
    expect(rest).not.toContain("X-Own");
  },
);

test("the protocol stays what it is, since nobody sees here whether the server changes it", () => {
  const step = feed(
    "GET http://a/ HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
  );
  const rest = step.kind === "done" ? step.rest.toString("latin1") : "";
  expect(rest).toBe("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
});

test("HEAD is answered without the script", () => {
  const step = feed("HEAD /proxy.pac HTTP/1.1\r\nHost: x\r\n\r\n");
  const said = step.kind === "farewell" ? step.say.toString("latin1") : "";
  expect(said).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*Content-Length: 10\r\n[\s\S]*\r\n\r\n$/);
});

test.each([
  [
    "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\nGET http://b/ HTTP/1.1\r\nHost: b\r\n\r\n",
    "HTTP/1.1 400 Bad Request",
    "",
  ],
  ["GET /proxy.pac HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK", "the script"],
  ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 Not Found", "This is a proxy"],
  [
    "POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n",
    "HTTP/1.1 400 Bad Request",
    "",
  ],
  ["GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 Bad Request", ""],
  ["CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 Bad Request", ""],
  ["CONNECT a:0 HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 Bad Request", ""],
  ["OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 Bad Request", ""],
  [`GET /${"a".repeat(100_000)} HTTP/1.1\r\n`, "HTTP/1.1 431", ""],
  ["\u0016\u0003\u0001 nothing\r\n\r\n", "HTTP/1.1 400 Bad Request", ""],
])("what is wrong, or for the proxy itself, is answered and closed (%#)", (text, status, words) => {
  const step = feed(text);
  expect(step.kind).toBe("farewell");
  const said = step.kind === "farewell" ? step.say.toString("latin1") : "";
  expect(said.slice(0, status.length)).toBe(status);
  expect(said).toContain(words);
});
