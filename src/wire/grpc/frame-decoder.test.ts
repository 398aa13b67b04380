import { expect, test } from "vitest";
import { FrameDecoder } from "./frame-decoder.ts";

function frame(text: string): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([header, Buffer.from(text)]);
}

function readAll(decoder: FrameDecoder, chunks: readonly Buffer[]): string[] {
  const messages: string[] = [];
  for (const chunk of chunks) {
    decoder.feed(chunk);
    while (decoder.next())
      messages.push(decoder.bytes.toString("utf8", decoder.start, decoder.end));
  }
  return messages;
}

const TEXTS = ["a", "", "bcd", "e".repeat(40), ""];
const STREAM = Buffer.concat(TEXTS.map(frame));

test("gives the same messages whole, byte by byte, and split at every two places", () => {
  expect(readAll(new FrameDecoder(100), [STREAM])).toEqual(TEXTS);
  expect(
    readAll(
      new FrameDecoder(100),
      [...STREAM].map((byte) => Buffer.from([byte])),
    ),
  ).toEqual(TEXTS);
  for (let a = 0; a <= STREAM.length; a++) {
    for (let b = a; b <= STREAM.length; b++) {
      const chunks = [STREAM.subarray(0, a), STREAM.subarray(a, b), STREAM.subarray(b)];
      expect(readAll(new FrameDecoder(100), chunks)).toEqual(TEXTS);
    }
  }
});

test("refuses a message over the limit as soon as its header is there", () => {
  const decoder = new FrameDecoder(39);
  expect(() => readAll(decoder, [frame("e".repeat(40)).subarray(0, 5)])).toThrow(
    expect.objectContaining({
      code: "ERR_API_MESSAGE_TOO_LARGE",
      message: "gRPC message of 40 bytes is too large; expected at most 39",
    }),
  );
  expect(readAll(new FrameDecoder(40), [frame("e".repeat(40))])).toHaveLength(1);
});

test("refuses compressed messages, which nobody offered to read", () => {
  expect(() => readAll(new FrameDecoder(100), [Buffer.from([1, 0, 0, 0, 0])])).toThrow(
    expect.objectContaining({ code: "ERR_API_PROTOCOL" }),
  );
});

test("what was read is let go", () => {
  const decoder = new FrameDecoder(100);
  decoder.feed(Buffer.from([0, 0, 0, 0, 2, 1, 2]));
  expect(decoder.next()).toBe(true);
  expect(decoder.next()).toBe(false);
  expect(decoder.bytes).toHaveLength(0);
  decoder.feed(Buffer.from([0, 0, 0, 0, 1, 7]));
  expect(decoder.next()).toBe(true);
  expect([...decoder.bytes.subarray(decoder.start, decoder.end)]).toEqual([7]);
});
