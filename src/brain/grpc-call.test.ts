import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { type FrameOutput, GrpcCall } from "./grpc-call.ts";

/** A stream whose other side reads only when told. */
class SlowStream extends Duplex {
  readonly written: Buffer[] = [];
  #done: (() => void) | undefined;

  constructor() {
    super({ writableHighWaterMark: 1 });
  }

  respond(): void {}

  sendTrailers(): void {}

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written.push(chunk);
    this.#done = done;
  }

  readSome(): void {
    const done = this.#done;
    this.#done = undefined;
    done?.();
  }
}

/** Gathers what is made, as the encoder does. */
class Output implements FrameOutput {
  #frames: Buffer[] = [];

  get length(): number {
    return this.#frames.reduce((sum, frame) => sum + frame.length, 0);
  }

  add(frame: Buffer): void {
    this.#frames.push(frame);
  }

  take(): Buffer {
    const bytes = Buffer.concat(this.#frames);
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#frames = [];
  }
}

function* make(output: Output, frames: Iterable<Buffer>): Generator<void> {
  for (const frame of frames) yield output.add(frame);
}

const FRAME_BYTES = 1000;
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("makes no more messages than fit into two writes while the client does not read", async () => {
  const [stream, output] = [new SlowStream(), new Output()];
  let made = 0;
  function* endless(): Generator<Buffer> {
    for (; ; made++) yield Buffer.alloc(FRAME_BYTES);
  }
  const sending = new GrpcCall(stream, 100).send(make(output, endless()), output);
  await settle();
  expect(made * FRAME_BYTES).toBeLessThan(2 * 32_768);
  const before = made;
  stream.readSome();
  await settle();
  expect(made).toBeGreaterThan(before);
  stream.destroy();
  await expect(sending).rejects.toMatchObject({ code: "ERR_ABORTED" });
});

test("gathers messages to few writes and keeps every byte, also of long ones", async () => {
  const [stream, output] = [new SlowStream(), new Output()];
  const sizes = [10, 70_000, 10, 65_536, ...new Array<number>(100).fill(10), 1];
  const frames = sizes.map((size, index) => Buffer.alloc(size, index + 1));
  const sending = new GrpcCall(stream, 100).send(make(output, frames), output);
  for (let turn = 0; turn < 10; turn++) {
    await settle();
    stream.readSome();
  }
  expect(await sending).toBe(frames.length);
  expect(Buffer.concat(stream.written).equals(Buffer.concat(frames))).toBe(true);
  expect(stream.written.length).toBeLessThanOrEqual(4);
});
