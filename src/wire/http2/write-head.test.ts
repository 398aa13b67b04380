import { expect, test } from "vitest";
import { FieldList } from "./hpack/field-list.ts";
import { HeaderBlockWriter } from "./hpack/header-block-writer.ts";
import { HpackDecoder } from "./hpack/hpack-decoder.ts";
import { headerField } from "./hpack/static-table.ts";
import { renderHttp1Request } from "./http1-bridge.ts";
import { createForwarding, writeRequestHead, writeResponseHead } from "./write-head.ts";

const SAID = [
  ["accept", "*/*"],
  ["cookie", "a=1"],
  ["cookie", "b=2"],
  ["te", "trailers"],
  ["http2-settings", "x"],
  ["x-forwarded-for", "1.1.1.1"],
  ["x-forwarded-proto", "https"],
  ["x-forwarded-host", "evil.example"],
  ["forwarded", "for=1.1.1.1"],
] as const;
const HEAD = {
  method: "POST",
  authority: "a.example",
  path: "/x",
  fields: SAID.map(([name, value]) => headerField(name, value)),
  contentLength: -1,
};

function written(write: (writer: HeaderBlockWriter) => void): readonly string[] {
  const writer = new HeaderBlockWriter();
  write(writer);
  const list = new FieldList({ maxListBytes: 10_000, maxFields: 100 });
  new HpackDecoder(0).decode(writer.bytes, 0, writer.bytes.length, list);
  return list.fields.map(({ name, value }) => `${name.text}: ${value}`);
}

test("who is not trusted is not believed", () => {
  const forwarding = createForwarding("10.0.0.9", "http", false);
  expect(written((writer) => writeRequestHead(writer, HEAD, forwarding))).toEqual([
    ":method: POST",
    ":scheme: http",
    ":authority: a.example",
    ":path: /x",
    "accept: */*",
    "cookie: a=1",
    "cookie: b=2",
    "te: trailers",
    "x-forwarded-for: 10.0.0.9",
    "x-forwarded-proto: http",
  ]);
});

test("who is trusted is added to", () => {
  const forwarding = createForwarding("10.0.0.9", "http", true);
  const fields = written((writer) => writeRequestHead(writer, HEAD, forwarding));
  expect(fields.filter((field) => field.includes("forwarded")).toSorted()).toEqual([
    "forwarded: for=1.1.1.1",
    "x-forwarded-for: 1.1.1.1, 10.0.0.9",
    "x-forwarded-host: evil.example",
    "x-forwarded-proto: https",
  ]);
});

test("a trusted one that says nothing is told about; one without an address is not", () => {
  const bare = { ...HEAD, fields: [] };
  const fields = (peer: string) =>
    written((writer) => writeRequestHead(writer, bare, createForwarding(peer, "https", true)));
  expect(fields("10.0.0.9").slice(4)).toEqual([
    "x-forwarded-for: 10.0.0.9",
    "x-forwarded-proto: https",
  ]);
  expect(fields("").slice(4)).toEqual(["x-forwarded-proto: https"]);
});

test("statuses that are in the static table take one byte, others pass as well", () => {
  const writer = new HeaderBlockWriter();
  writeResponseHead(writer, 200, []);
  expect(writer.bytes.toString("hex")).toBe("88");
  expect(written((one) => writeResponseHead(one, 418, []))).toEqual([":status: 418"]);
});

test("the same request in HTTP/1.1", () => {
  const forwarding = createForwarding("10.0.0.9", "http", false);
  expect(renderHttp1Request(HEAD, forwarding, true).toString()).toBe(
    [
      "POST /x HTTP/1.1",
      "host: a.example",
      "accept: */*",
      "cookie: a=1; b=2",
      "x-forwarded-for: 10.0.0.9",
      "x-forwarded-proto: http",
      "transfer-encoding: chunked",
      "\r\n",
    ].join("\r\n"),
  );
});
