import fc from "fast-check";
import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { FrameDecoder } from "../grpc/frame-decoder.ts";
import { ProtoReader } from "../protobuf/proto-reader.ts";
import { ProtoWriter } from "../protobuf/proto-writer.ts";
import { emptyEndpointMessage, readEndpoint } from "./endpoint-reader.ts";
import { writeNodeEndpoint } from "./endpoint-writer.ts";
import { readEndpointInfo, readNodeInfo, readServiceInfo } from "./global-reader.ts";
import { readJsonObject } from "./json-value.ts";
import { nodeEndpoint } from "./model.fixture.ts";
import { readOpItem } from "./op-item.ts";
import { SCOPES } from "./scopes.ts";
import { readService } from "./service-reader.ts";
import { readWatchRequest } from "./watch-request.ts";

const RANDOM_BYTES = 10_000;
const PIECE_BYTES = 100;

const READERS: Readonly<Record<string, (reader: ProtoReader) => unknown>> = {
  Service: readService,
  Endpoint: (reader) => readEndpoint(reader, emptyEndpointMessage()),
  ServiceInfo: readServiceInfo,
  EndpointInfo: (reader) => readEndpointInfo(reader, "row"),
  NodeInfo: readNodeInfo,
  OpItem: readOpItem,
  WatchReq: readWatchRequest,
  Listener: (reader) => readJsonObject("Listener", reader),
};

/** Nothing but an error of ours comes out of it. */
function survives(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    expect(error.code).toMatch(/^ERR_API_/);
  }
}

const bytes = fc.uint8Array({ minLength: RANDOM_BYTES, maxLength: RANDOM_BYTES });

test.each(Object.entries(READERS))("10,000 random bytes do no harm to %s", (_, read) => {
  fc.assert(
    fc.property(bytes, (random) => {
      const buffer = Buffer.from(random);
      survives(() => read(new ProtoReader().reset(buffer)));
      for (let at = 0; at < buffer.length; at += PIECE_BYTES) {
        survives(() => read(new ProtoReader().reset(buffer, at, at + PIECE_BYTES)));
      }
    }),
    { numRuns: 20 },
  );
});

test("10,000 random bytes do no harm to the frame decoder, however they are split", () => {
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 2000 }), (random, piece) => {
      const decoder = new FrameDecoder(4096);
      survives(() => {
        for (let at = 0; at < random.length; at += piece) {
          decoder.feed(Buffer.from(random.subarray(at, at + piece)));
          while (decoder.next()) expect(decoder.end - decoder.start).toBeLessThanOrEqual(4096);
        }
      });
    }),
    { numRuns: 20 },
  );
});

test("a good message with one byte changed is read or refused, never anything else", () => {
  fc.assert(
    fc.property(nodeEndpoint, fc.nat(), fc.nat(255), (value, at, byte) => {
      const writer = new ProtoWriter();
      writeNodeEndpoint(writer, value, SCOPES[3]);
      const message = Buffer.from(writer.view());
      message[at % message.length] = byte;
      survives(() => readEndpoint(new ProtoReader().reset(message), emptyEndpointMessage()));
      survives(() =>
        readEndpoint(
          new ProtoReader().reset(message, 0, at % message.length),
          emptyEndpointMessage(),
        ),
      );
    }),
    { numRuns: 2000 },
  );
});
