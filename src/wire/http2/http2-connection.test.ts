import fc from "fast-check";
import { expect, test } from "vitest";
import { eachSplit } from "../../../test/support/each-split.ts";
import {
  blockOf,
  codesIn,
  connected,
  frameOf,
  framesIn,
  PlainPeer,
  REQUEST,
  settle,
} from "./plain-peer.fixture.ts";
import { CODE, FLAG, FRAME, PREFACE } from "./protocol.ts";

const OK = blockOf([[":status", "200"]]);

test("a request and its answer, with bodies and trailers", () => {
  const pair = connected();
  const request = pair.client.request(false);
  request.send("ping");
  request.send("", true);
  settle(pair);
  const [served] = pair.server.opened;
  expect([served?.body, served?.isEnded]).toEqual(["ping", true]);
  served?.stream.sendFields(OK, false);
  served?.send("pong");
  served?.stream.sendFields(blockOf([["grpc-status", "0"]]), true);
  settle(pair);
  expect([request.heads, request.body, request.isEnded, request.isDone]).toEqual([
    2,
    "pong",
    true,
    true,
  ]);
  expect(served?.isDone).toBe(true);
  expect([pair.client.connection.streamCount, pair.server.connection.streamCount]).toEqual([0, 0]);
});

test("it is the same, however the network cuts it", () => {
  const client = new PlainPeer("client");
  client.request(false).send("hello", true);
  const bytes = client.takeOutput();
  for (const parts of eachSplit(bytes)) {
    const server = new PlainPeer("server");
    for (const part of parts) expect(server.receive(part)).toBe(CODE.NO_ERROR);
    expect(server.opened.map(({ body, isEnded }) => [body, isEnded])).toEqual([["hello", true]]);
  }
});

test("a head that is larger than a frame", () => {
  const pair = connected();
  const request = pair.client.request();
  settle(pair);
  const fields = Array.from({ length: 10 }, (_, at) => [`x-${at}`, "v".repeat(5000)] as const);
  pair.server.opened[0]?.stream.sendFields(blockOf([[":status", "200"], ...fields]), true);
  settle(pair);
  expect([request.heads, request.isDone, pair.client.code]).toEqual([1, true, CODE.NO_ERROR]);
});

test("who does not read is sent no more than the window, and then all of it", () => {
  const pair = connected();
  const request = pair.client.request(false);
  settle(pair);
  const [served] = pair.server.opened;
  if (served !== undefined) served.isReading = false;
  const text = "x".repeat(1_000_000);
  const sentAtOnce = request.send(text, true);
  settle(pair);
  expect(served?.body.length).toBe(262_144);
  expect(sentAtOnce + request.sentBytes).toBe(262_144);
  if (served !== undefined) served.isReading = true;
  served?.stream.consumed(served.body.length);
  settle(pair);
  expect([served?.body.length, served?.isEnded]).toEqual([text.length, true]);
});

test("one stream that nobody reads does not hold up others of a server", () => {
  const pair = connected();
  const [stuck, other] = [pair.client.request(), pair.client.request()];
  stuck.isReading = false;
  settle(pair);
  for (const served of pair.server.opened) {
    served.stream.sendFields(OK, false);
    served.send("x".repeat(500_000), true);
  }
  settle(pair);
  expect([stuck.body.length, other.body.length]).toEqual([65_535, 500_000]);
});

test("what was not read of a stream that is reset counts for the connection as read", () => {
  const pair = connected({ connectionWindowBytes: 100_000, streamWindowBytes: 100_000 });
  for (let turn = 0; turn < 5; turn += 1) {
    const request = pair.client.request(false);
    settle(pair);
    const served = pair.server.opened.at(-1);
    if (served !== undefined) served.isReading = false;
    request.send("x".repeat(100_000));
    settle(pair);
    expect(served?.body.length).toBe(100_000);
    served?.stream.reset();
    settle(pair);
    expect(request.resetWith).toBe(CODE.CANCEL);
  }
  expect(pair.server.code).toBe(CODE.NO_ERROR);
});

test("streams send in turns, and little waits to be sent", () => {
  const pair = connected();
  const requests = [pair.client.request(false), pair.client.request(false)];
  for (const request of requests) request.send("x".repeat(60_000), true);
  expect(pair.client.output.size).toBeLessThan(70_000);
  settle(pair);
  expect(pair.server.opened.map(({ body }) => body.length)).toEqual([60_000, 60_000]);
});

test("a smaller first window also counts for what is open", () => {
  const pair = connected();
  const request = pair.client.request(false);
  request.send("x".repeat(1000));
  settle(pair);
  const settings = Buffer.alloc(6);
  settings.writeUInt16BE(4, 0);
  pair.client.receive(frameOf(FRAME.SETTINGS, 0, 0, settings));
  request.send("y");
  settle(pair);
  expect(pair.server.opened[0]?.body).toBe("x".repeat(1000));
  settings.writeUInt32BE(2000, 2);
  pair.client.receive(frameOf(FRAME.SETTINGS, 0, 0, settings));
  settle(pair);
  expect(pair.server.opened[0]?.body).toBe(`${"x".repeat(1000)}y`);
});

test("more streams than allowed are refused, and the others go on", () => {
  const pair = connected({ maxConcurrentStreams: 2 });
  expect(pair.client.connection.capacity).toBe(2);
  const requests = [pair.client.request(), pair.client.request(), pair.client.request()];
  settle(pair);
  expect(requests.map(({ resetWith }) => resetWith)).toEqual([
    undefined,
    undefined,
    CODE.REFUSED_STREAM,
  ]);
  expect(pair.server.opened.length).toBe(2);
});

test("leaving: what is on its way is taken, what comes later can be repeated elsewhere", () => {
  const pair = connected();
  const first = pair.client.request();
  pair.server.connection.announceLeave();
  const second = pair.client.request();
  settle(pair);
  expect(pair.client.connection.capacity).toBe(0);
  expect(pair.server.opened.length).toBe(2);
  pair.server.connection.leave();
  const late = pair.client.request();
  settle(pair);
  expect([late.resetWith, first.resetWith, second.resetWith]).toEqual([
    CODE.REFUSED_STREAM,
    undefined,
    undefined,
  ]);
  for (const { stream } of pair.server.opened) stream.sendFields(OK, true);
  settle(pair);
  expect([first.isDone, second.isDone]).toEqual([true, true]);
});

test("a connection that is gone ends all streams", () => {
  const pair = connected();
  const request = pair.client.request();
  settle(pair);
  pair.client.connection.lost();
  pair.server.connection.close(CODE.INTERNAL_ERROR);
  expect(request.resetWith).toBe(CODE.INTERNAL_ERROR);
  expect(pair.server.opened[0]?.resetWith).toBe(CODE.INTERNAL_ERROR);
  expect(codesIn(pair.server.takeOutput()).goAways).toEqual([CODE.INTERNAL_ERROR]);
});

const HEADERS = frameOf(FRAME.HEADERS, FLAG.END_HEADERS, 1, blockOf(REQUEST));
const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

function greeted(): PlainPeer {
  const server = new PlainPeer("server");
  server.receive(Buffer.concat([PREFACE, frameOf(FRAME.SETTINGS, 0, 0)]));
  server.takeOutput();
  return server;
}

test.each([
  ["no preface", Buffer.from("GET / HTTP/1.1\r\n"), CODE.PROTOCOL_ERROR],
  ["no SETTINGS first", Buffer.concat([PREFACE, HEADERS]), CODE.PROTOCOL_ERROR],
])("ends a connection with %s", (_, bytes, code) => {
  const server = new PlainPeer("server");
  expect(server.receive(bytes)).toBe(code);
  expect(codesIn(server.takeOutput()).goAways).toEqual([code]);
});

test.each([
  ["an even stream", frameOf(FRAME.HEADERS, 5, 2, blockOf(REQUEST)), CODE.PROTOCOL_ERROR],
  ["data on a stream that is not open", frameOf(FRAME.DATA, 0, 1), CODE.PROTOCOL_ERROR],
  [
    "a head on a stream that has ended",
    Buffer.concat([HEADERS, frameOf(FRAME.RST_STREAM, 0, 1, word(8)), HEADERS]),
    CODE.STREAM_CLOSED,
  ],
  [
    "something else within a head",
    Buffer.concat([
      frameOf(FRAME.HEADERS, 0, 1, blockOf(REQUEST)),
      frameOf(FRAME.PING, 0, 0, Buffer.alloc(8)),
    ]),
    CODE.PROTOCOL_ERROR,
  ],
  ["CONTINUATION of nothing", frameOf(FRAME.CONTINUATION, 4, 1), CODE.PROTOCOL_ERROR],
  ["a push", frameOf(FRAME.PUSH_PROMISE, 4, 1, word(2)), CODE.PROTOCOL_ERROR],
  [
    "fields that can not be read",
    frameOf(FRAME.HEADERS, 5, 1, Buffer.from([0x80])),
    CODE.COMPRESSION_ERROR,
  ],
  [
    "a window of the connection over the limit",
    frameOf(FRAME.WINDOW_UPDATE, 0, 0, word(0x7fffffff)),
    CODE.FLOW_CONTROL_ERROR,
  ],
  [
    "a window of the connection that opens by nothing",
    frameOf(FRAME.WINDOW_UPDATE, 0, 0, word(0)),
    CODE.PROTOCOL_ERROR,
  ],
  [
    "a block that never ends",
    Buffer.concat([
      frameOf(FRAME.HEADERS, 0, 1),
      ...Array.from({ length: 40 }, () => frameOf(FRAME.CONTINUATION, 0, 1)),
    ]),
    CODE.ENHANCE_YOUR_CALM,
  ],
  [
    "a block that is too large",
    Buffer.concat([
      frameOf(FRAME.HEADERS, 0, 1),
      ...Array.from({ length: 5 }, () => frameOf(FRAME.CONTINUATION, 0, 1, Buffer.alloc(16_384))),
    ]),
    CODE.ENHANCE_YOUR_CALM,
  ],
  [
    "PING without end",
    Buffer.concat(Array.from({ length: 1100 }, () => frameOf(FRAME.PING, 0, 0, Buffer.alloc(8)))),
    CODE.ENHANCE_YOUR_CALM,
  ],
  [
    "SETTINGS without end",
    Buffer.concat(Array.from({ length: 1100 }, () => frameOf(FRAME.SETTINGS, 0, 0))),
    CODE.ENHANCE_YOUR_CALM,
  ],
  [
    "empty DATA without end",
    Buffer.concat([HEADERS, ...Array.from({ length: 1100 }, () => frameOf(FRAME.DATA, 0, 1))]),
    CODE.ENHANCE_YOUR_CALM,
  ],
])("ends a connection with %s", (_, bytes, code) => {
  const server = greeted();
  expect(server.receive(bytes)).toBe(code);
  expect(codesIn(server.takeOutput()).goAways).toEqual([code]);
  expect(server.connection.streamCount).toBe(0);
});

test.each([
  [
    "data after the end",
    Buffer.concat([frameOf(FRAME.HEADERS, 5, 1, blockOf(REQUEST)), frameOf(FRAME.DATA, 0, 1)]),
    CODE.STREAM_CLOSED,
  ],
  [
    "a head after the end",
    Buffer.concat([frameOf(FRAME.HEADERS, 5, 1, blockOf(REQUEST)), HEADERS]),
    CODE.STREAM_CLOSED,
  ],
  [
    "a window over the limit",
    Buffer.concat([HEADERS, frameOf(FRAME.WINDOW_UPDATE, 0, 1, word(0x7fffffff))]),
    CODE.FLOW_CONTROL_ERROR,
  ],
  [
    "a window that opens by nothing",
    Buffer.concat([HEADERS, frameOf(FRAME.WINDOW_UPDATE, 0, 1, word(0))]),
    CODE.PROTOCOL_ERROR,
  ],
  [
    "more data than its window",
    Buffer.concat([
      HEADERS,
      ...Array.from({ length: 17 }, () => frameOf(FRAME.DATA, 0, 1, Buffer.alloc(16_384))),
    ]),
    CODE.FLOW_CONTROL_ERROR,
  ],
])("resets a stream with %s, and goes on", (_, bytes, code) => {
  const server = greeted();
  for (const { type, flags, streamId, payload } of framesIn(bytes)) {
    expect(server.receive(frameOf(type, flags, streamId, payload))).toBe(CODE.NO_ERROR);
    for (const notes of server.opened) notes.isReading = false;
  }
  expect(server.opened[0]?.resetWith).toBe(code);
  expect(codesIn(server.takeOutput())).toEqual({ resets: [code], goAways: [] });
  expect(server.receive(frameOf(FRAME.HEADERS, 5, 3, blockOf(REQUEST)))).toBe(CODE.NO_ERROR);
  expect(server.opened.length).toBe(2);
});

test("a connection whose window is overrun ends", () => {
  const pair = connected({ connectionWindowBytes: 65_535 });
  const request = pair.client.request(false);
  settle(pair);
  for (const notes of pair.server.opened) notes.isReading = false;
  request.send("x".repeat(65_535));
  settle(pair);
  const more = frameOf(FRAME.DATA, 0, request.stream.id, Buffer.alloc(1));
  expect(pair.server.receive(more)).toBe(CODE.FLOW_CONTROL_ERROR);
});

test.each([
  ["more", "four", false],
  ["less", "ab", true],
])("resets a stream with %s than was announced", (_, text, isEnd) => {
  const pair = connected();
  const request = pair.client.request(false);
  settle(pair);
  for (const { stream } of pair.server.opened) stream.announcedBytes = 3;
  request.send(text, isEnd);
  settle(pair);
  expect([request.resetWith, pair.server.opened[0]?.body]).toEqual([CODE.PROTOCOL_ERROR, ""]);
});

test("streams that are opened and reset at once are too many at some time; over a long time they are not", () => {
  const open = (server: PlainPeer, count: number, betweenMs: number): number => {
    for (let turn = 0; turn < count; turn += 1) {
      const id = 2 * turn + 1;
      server.nowMs += betweenMs;
      const reset = frameOf(FRAME.RST_STREAM, 0, id, word(CODE.CANCEL));
      const head = frameOf(FRAME.HEADERS, 5, id, blockOf(REQUEST));
      if (server.receive(Buffer.concat([head, reset])) !== CODE.NO_ERROR) return turn;
      server.takeOutput();
    }
    return count;
  };
  const rapid = greeted();
  expect(open(rapid, 2000, 0)).toBe(1000);
  expect(rapid.code).toBe(CODE.ENHANCE_YOUR_CALM);
  expect(open(greeted(), 3000, 10)).toBe(3000);
});

test("streams that a client has reset by breaking rules count, too", () => {
  const server = greeted();
  let turn = 0;
  for (; turn < 2000; turn += 1) {
    const id = 2 * turn + 1;
    const head = frameOf(FRAME.HEADERS, 4, id, blockOf(REQUEST));
    const bad = frameOf(FRAME.WINDOW_UPDATE, 0, id, word(0));
    if (server.receive(Buffer.concat([head, bad])) !== CODE.NO_ERROR) break;
    server.takeOutput();
  }
  expect([turn, server.code]).toEqual([1000, CODE.ENHANCE_YOUR_CALM]);
});

test("who answers in full may be reset as often as it likes", () => {
  const server = greeted();
  for (let turn = 0; turn < 3000; turn += 1) {
    const id = 2 * turn + 1;
    server.receive(frameOf(FRAME.HEADERS, 4, id, blockOf(REQUEST)));
    server.opened.at(-1)?.stream.sendFields(OK, true);
    server.receive(frameOf(FRAME.RST_STREAM, 0, id, word(CODE.NO_ERROR)));
    server.takeOutput();
  }
  expect(server.code).toBe(CODE.NO_ERROR);
});

test("what is on its way to a stream that was reset here is no fault of the peer", () => {
  const server = greeted();
  server.receive(HEADERS);
  server.opened[0]?.stream.reset();
  server.takeOutput();
  const late = [
    frameOf(FRAME.DATA, 0, 1, Buffer.from("late")),
    frameOf(FRAME.HEADERS, 5, 1, blockOf([["x", "y"]])),
    frameOf(FRAME.WINDOW_UPDATE, 0, 1, word(1)),
    frameOf(FRAME.RST_STREAM, 0, 1, word(0)),
  ];
  expect(server.receive(Buffer.concat(late))).toBe(CODE.NO_ERROR);
  expect(server.takeOutput().length).toBe(0);
});

test("pings are answered with what they said", () => {
  const server = greeted();
  server.receive(frameOf(FRAME.PING, 0, 0, Buffer.from("12345678")));
  const [answer] = framesIn(server.takeOutput());
  expect([answer?.type, answer?.flags, answer?.payload.toString()]).toEqual([
    FRAME.PING,
    FLAG.ACK,
    "12345678",
  ]);
});

test("random frames on a connection that has begun never throw, and leave nothing behind", () => {
  const frame = fc.record({
    type: fc.nat({ max: 11 }),
    flags: fc.nat({ max: 255 }),
    streamId: fc.nat({ max: 7 }),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constant(new Uint8Array(blockOf(REQUEST))),
      fc.constant(new Uint8Array(4)),
    ),
  });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 40 }), fc.boolean(), (frames, answers) => {
      const server = greeted();
      for (const { type, flags, streamId, payload } of frames) {
        server.receive(frameOf(type, flags, streamId, Buffer.from(payload)));
        if (answers) server.opened.at(-1)?.stream.sendFields(OK, true);
        server.takeOutput();
      }
      const open = server.opened.filter(({ stream }) => !stream.isClosed);
      expect(server.connection.streamCount).toBe(open.length);
      server.connection.lost();
      expect(server.connection.streamCount).toBe(0);
    }),
    { numRuns: 500 },
  );
});
