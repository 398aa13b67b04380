import fc from "fast-check";
import { expect, test } from "vitest";
import { eachSplit } from "../../../test/support/each-split.ts";
import { CHUNKED, UNTIL_CLOSE } from "../../wire/http1/body-framing.ts";
import { headerField } from "../../wire/http2/hpack/static-table.ts";
import { type Memory, OutputBuffer } from "../../wire/http2/output-buffer.ts";
import { ChunkedRequest } from "./chunked-request.ts";
import { Http1Body } from "./http1-body.ts";
import { renderTrailers } from "./trailer-fields.ts";

function createOutput(): OutputBuffer<Memory> {
  const borrow = (byteCount: number): Memory => ({ bytes: Buffer.alloc(byteCount) });
  return new OutputBuffer({ borrow, giveBack: () => undefined }, () => undefined);
}

/** All that is written, as the network takes it. */
function drain(request: ChunkedRequest, output: OutputBuffer<Memory>): Buffer {
  const taken: Buffer[] = [];
  while (output.size > 0) {
    const { bytes, start, size } = output;
    const count = Math.min(size, 20_000);
    taken.push(Buffer.from(bytes.subarray(start, start + count)));
    output.drop(count);
    request.refill();
  }
  return Buffer.concat(taken);
}

function take(body: Http1Body, bytes: Buffer): string {
  let text = "";
  const used = body.take(bytes, (start, end) => {
    text += bytes.toString("latin1", start, end);
  });
  expect(used).toBe(bytes.length);
  return text;
}

test("a body in chunks is the same, however the network cuts it", () => {
  const bytes = Buffer.from("5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 7 \r\nHost: no\r\n\r\n");
  for (const parts of eachSplit(bytes)) {
    const body = new Http1Body();
    body.begin(CHUNKED);
    expect(parts.map((part) => take(body, part)).join("")).toBe("hello!");
    expect(body.isDone).toBe(true);
    expect(body.trailers().map(({ name, value }) => [name.text, value])).toEqual([["x-sum", "7"]]);
  }
});

test.each([
  ["0\r\n\r\n", []],
  ["0;last\r\na: b\r\n\r\n", ["a: b"]],
  ["1\r\nx\r\n0\r\nA:b\r\nc: \td e\t\r\n\r\n", ["a: b", "c: d e"]],
  ["1\r\nx\r\n0\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", []],
])("trailers of %j", (text, trailers) => {
  const body = new Http1Body();
  body.begin(CHUNKED);
  take(body, Buffer.from(text));
  expect(body.trailers().map(({ name, value }) => `${name.text}: ${value}`)).toEqual(trailers);
});

test("a request has its trailers after its last chunk, and none without chunks", () => {
  for (const [isChunked, written] of [
    [true, "1\r\nx\r\n0\r\nsum: 1\r\n\r\n"],
    [false, "x"],
  ] as const) {
    const output = createOutput();
    const request = new ChunkedRequest(output, isChunked);
    request.send(Buffer.from("x"), 0, 1);
    const fields = [headerField("sum", "1"), headerField("host", "other")];
    request.end(renderTrailers(fields));
    expect(drain(request, output).toString()).toBe(written);
  }
});

test("what is no chunk is malformed; what ends with the connection never is", () => {
  const body = new Http1Body();
  body.begin(CHUNKED);
  expect(body.take(Buffer.from("x\r\n"), () => undefined)).toBe(-1);
  body.begin(CHUNKED);
  expect(body.take(Buffer.alloc(100_000, "0"), () => undefined)).toBe(-1);
  body.begin(UNTIL_CLOSE);
  expect(take(body, Buffer.from("x\r\n"))).toBe("x\r\n");
  expect([body.isDone, body.mayEndHere]).toEqual([false, true]);
});

test("a request in chunks is read again as it was, and little of it waits at once", () => {
  const parts = fc.array(fc.integer({ min: 1, max: 40_000 }), { maxLength: 8 });
  fc.assert(
    fc.property(parts, (sizes) => {
      const output = createOutput();
      const request = new ChunkedRequest(output, true);
      let text = "";
      for (const [index, size] of sizes.entries()) {
        const part = Buffer.alloc(size, String(index));
        request.send(part, 0, size);
        text += part.toString();
        expect(output.size).toBeLessThan(100_000);
      }
      request.end();
      const body = new Http1Body();
      body.begin(CHUNKED);
      expect(take(body, drain(request, output)) === text).toBe(true);
      expect([body.isDone, request.isSent]).toEqual([true, true]);
    }),
    { numRuns: 30 },
  );
});
