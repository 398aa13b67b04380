import { expect, test } from "vitest";
import { FieldList } from "./hpack/field-list.ts";
import { headerField } from "./hpack/static-table.ts";
import { readTrailers } from "./message-fields.ts";
import { readRequestHead } from "./request-head.ts";
import { readResponseHead } from "./response-head.ts";

type Pair = readonly [string, string];

const LINE: readonly Pair[] = [
  [":method", "GET"],
  [":scheme", "http"],
  [":authority", "a.example"],
  [":path", "/x?y"],
];

function listOf(pairs: readonly Pair[]): FieldList {
  const list = new FieldList({ maxListBytes: 10_000, maxFields: 100 });
  for (const [name, value] of pairs) list.add(headerField(name, value));
  return list;
}

const read = (...more: readonly Pair[]) => readRequestHead(listOf([...LINE, ...more]));
const without = (name: string): readonly Pair[] => LINE.filter(([own]) => own !== name);
const withValue = (name: string, value: string): readonly Pair[] =>
  LINE.map(([own, before]): Pair => [own, own === name ? value : before]);

test("the parts of a request", () => {
  const head = read(["accept", "*/*"], ["te", "trailers"], ["content-length", "12"]);
  expect(head).toMatchObject({
    method: "GET",
    authority: "a.example",
    path: "/x?y",
    contentLength: 12,
  });
  expect(head?.fields.map(({ name }) => name.text)).toEqual(["accept", "te", "content-length"]);
});

test.each<[string, readonly Pair[]]>([
  ["Host in place of an authority", [...without(":authority"), ["host", "a.example"]]],
  ["Host that says the same", [...LINE, ["host", "A.example"]]],
  [
    "OPTIONS for all of the server",
    [...withValue(":method", "OPTIONS").slice(0, 3), [":path", "*"]],
  ],
])("takes %s", (_, pairs) => {
  expect(readRequestHead(listOf(pairs))?.authority).toBe("a.example");
});

test.each<[string, readonly Pair[]]>([
  ["no method", without(":method")],
  ["no scheme", without(":scheme")],
  ["no path", without(":path")],
  ["no authority and no Host", without(":authority")],
  ["an empty path", withValue(":path", "")],
  ["a path without a slash", withValue(":path", "x")],
  ["a path with a space", withValue(":path", "/ HTTP/1.1")],
  ["* for another method than OPTIONS", withValue(":path", "*")],
  ["a scheme of its own", withValue(":scheme", "ftp")],
  ["a method with a space", withValue(":method", "GET /admin")],
  ["an authority with a user", withValue(":authority", "me@a.example")],
  ["an authority with a path", withValue(":authority", "a.example/x")],
  ["a method twice", [...LINE.slice(0, 1), ...LINE]],
  ["a pseudo field after others", [["accept", "*/*"], ...LINE]],
  ["a pseudo field after Host", [...without(":path"), ["host", "a.example"], [":path", "/"]]],
  ["a pseudo field of responses", [...LINE, [":status", "200"]]],
  ["a pseudo field that nobody knows", [...LINE, [":x", "y"]]],
  ["CONNECT with a path", withValue(":method", "CONNECT")],
  ["Host that says something else", [...LINE, ["host", "b.example"]]],
  ["Host twice", [...without(":authority"), ["host", "a"], ["host", "a"]]],
  ["a name in upper case", [...LINE, ["Accept", "*/*"]]],
  ["a value with a line end", [...LINE, ["x", "a\r\nhost: b"]]],
  ["Connection", [...LINE, ["connection", "close"]]],
  ["Keep-Alive", [...LINE, ["keep-alive", "1"]]],
  ["Proxy-Connection", [...LINE, ["proxy-connection", "close"]]],
  ["Transfer-Encoding", [...LINE, ["transfer-encoding", "chunked"]]],
  ["Upgrade", [...LINE, ["upgrade", "websocket"]]],
  ["TE other than trailers", [...LINE, ["te", "gzip"]]],
  ["a length that is no number", [...LINE, ["content-length", "1x"]]],
  ["a negative length", [...LINE, ["content-length", "-1"]]],
  ["an empty length", [...LINE, ["content-length", ""]]],
  ["two lengths", [...LINE, ["content-length", "1"], ["content-length", "1"]]],
])("refuses %s", (_, pairs) => {
  expect(readRequestHead(listOf(pairs))).toBeUndefined();
});

test.each<[string, readonly Pair[]]>([
  ["no status", [["server", "x"]]],
  ["a status that is no number", [[":status", "2xx"]]],
  ["a status below 100", [[":status", "099"]]],
  ["a change of protocol", [[":status", "101"]]],
  [
    "a pseudo field of requests",
    [
      [":status", "200"],
      [":path", "/"],
    ],
  ],
  [
    "Connection",
    [
      [":status", "200"],
      ["connection", "close"],
    ],
  ],
])("refuses a response with %s", (_, pairs) => {
  expect(readResponseHead(listOf(pairs))).toBeUndefined();
});

test("trailers have no pseudo fields", () => {
  expect(readTrailers(listOf([["grpc-status", "0"]]))?.length).toBe(1);
  expect(readTrailers(listOf([[":status", "200"]]))).toBeUndefined();
  expect(readTrailers(listOf([["connection", "close"]]))).toBeUndefined();
});
