import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { GrpcMessages } from "./grpc-messages.ts";

const LIMIT = 100;
const settle = () => new Promise((resolve) => setImmediate(resolve));

function frame(text: string): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(text.length, 1);
  return Buffer.concat([header, Buffer.from(text)]);
}

function textOf(messages: GrpcMessages): string | undefined {
  const message = messages.take();
  return message?.bytes.toString("utf8", message.start, message.end);
}

test("what came is taken one at a time, and nothing more is read meanwhile", async () => {
  const stream = new PassThrough();
  let calls = 0;
  const messages = new GrpcMessages(stream, LIMIT, () => {
    calls += 1;
  });
  stream.write(Buffer.concat([frame("one"), frame("two")]));
  await settle();
  stream.write(frame("three"));
  await settle();
  expect({ calls, isPaused: stream.isPaused() }).toEqual({ calls: 1, isPaused: true });
  expect([textOf(messages), textOf(messages), textOf(messages)]).toEqual(["one", "two", undefined]);
  await settle();
  expect(textOf(messages)).toBe("three");
});

test("who takes all that is there is told of the next, and of the end", async () => {
  const stream = new PassThrough();
  const taken: (string | undefined)[] = [];
  const messages = new GrpcMessages(stream, LIMIT, () => taken.push(textOf(messages)));
  for (const text of ["a", "b"]) {
    stream.write(frame(text));
    await settle();
  }
  expect(stream.isPaused()).toBe(false);
  stream.end(frame("c"));
  await settle();
  expect(taken).toEqual(["a", "b", "c", undefined]);
  expect(messages.isOver).toBe(true);
});

test("what is wrong with a message is told when its turn comes", async () => {
  const stream = new PassThrough();
  const messages = new GrpcMessages(stream, LIMIT, () => undefined);
  stream.write(Buffer.concat([frame("good"), frame("x".repeat(LIMIT + 1))]));
  await settle();
  expect(textOf(messages)).toBe("good");
  expect(() => messages.take()).toThrow("expected at most 100");
  expect(() => messages.take()).toThrow("expected at most 100");
});
