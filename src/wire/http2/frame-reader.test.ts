import fc from "fast-check";
import { expect, test } from "vitest";
import { eachSplit } from "../../../test/support/each-split.ts";
import { type FrameHandler, FrameReader } from "./frame-reader.ts";
import { CODE, FLAG, FRAME } from "./protocol.ts";

function frameOf(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, payload]);
}

/** Notes what it is shown; the parts of DATA joined. */
class Recorder implements FrameHandler {
  readonly shown: string[] = [];
  #data = "";
  #type = "";

  frameBegins(type: number, flags: number, streamId: number, length: number): number {
    this.#type = `${type}/${flags} on ${streamId}, ${length}:`;
    return CODE.NO_ERROR;
  }

  frame(
    type: number,
    _flags: number,
    _streamId: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): number {
    expect(type).not.toBe(FRAME.DATA);
    this.shown.push(`${this.#type} ${bytes.toString("latin1", start, end)}`);
    return CODE.NO_ERROR;
  }

  data(bytes: Buffer, start: number, end: number, isLast: boolean): number {
    this.#data += bytes.toString("latin1", start, end);
    if (!isLast) return CODE.NO_ERROR;
    this.shown.push(`${this.#type} ${this.#data}`);
    this.#data = "";
    return CODE.NO_ERROR;
  }
}

const text = (value: string): Buffer => Buffer.from(value, "latin1");

test("frames are the same, however the network cuts them", () => {
  const bytes = Buffer.concat([
    frameOf(FRAME.SETTINGS, 0, 0, Buffer.alloc(0)),
    frameOf(FRAME.HEADERS, 4, 1, text("abc")),
    frameOf(FRAME.DATA, 0, 1, text("hello")),
    frameOf(FRAME.DATA, FLAG.PADDED, 1, text("\x03datapad")),
    frameOf(FRAME.DATA, FLAG.PADDED, 1, text("\x02pp")),
    frameOf(FRAME.DATA, FLAG.END_STREAM, 1, Buffer.alloc(0)),
    frameOf(99, 7, 0x80000003, text("x")),
  ]);
  for (const parts of eachSplit(bytes)) {
    const recorder = new Recorder();
    const reader = new FrameReader(recorder);
    for (const part of parts) expect(reader.read(part, 0, part.length)).toBe(CODE.NO_ERROR);
    expect(recorder.shown).toEqual([
      "4/0 on 0, 0: ",
      "1/4 on 1, 3: abc",
      "0/0 on 1, 5: hello",
      "0/8 on 1, 8: data",
      "0/8 on 1, 3: ",
      "0/1 on 1, 0: ",
      "99/7 on 3, 1: x",
    ]);
  }
});

test.each([
  [
    "a frame that is too long",
    frameOf(FRAME.DATA, 0, 1, Buffer.alloc(16_385)),
    CODE.FRAME_SIZE_ERROR,
  ],
  [
    "padding as long as the frame",
    frameOf(FRAME.DATA, FLAG.PADDED, 1, text("\x03ab")),
    CODE.PROTOCOL_ERROR,
  ],
  [
    "padding without a length",
    frameOf(FRAME.DATA, FLAG.PADDED, 1, Buffer.alloc(0)),
    CODE.FRAME_SIZE_ERROR,
  ],
])("refuses %s", (_, bytes, code) => {
  expect(new FrameReader(new Recorder()).read(bytes, 0, bytes.length)).toBe(code);
});

test("random bytes never throw", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }), (chunks) => {
      const reader = new FrameReader(new Recorder());
      for (const chunk of chunks) {
        if (reader.read(Buffer.from(chunk), 0, chunk.length) !== CODE.NO_ERROR) return;
      }
    }),
  );
});
