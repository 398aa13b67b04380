import { readFileSync } from "node:fs";
import fc from "fast-check";
import protobuf from "protobufjs";
import { expect, test } from "vitest";
import { ProtoReader } from "../protobuf/proto-reader.ts";
import { ProtoWriter } from "../protobuf/proto-writer.ts";
import { emptyEndpointMessage, readEndpoint } from "./endpoint-reader.ts";
import { writeNodeEndpoint } from "./endpoint-writer.ts";
import { readEndpointInfo, readNodeInfo, readServiceInfo } from "./global-reader.ts";
import { GlobalWriter } from "./global-writer.ts";
import { endpoint, node, nodeEndpoint, nodeService, service } from "./model.fixture.ts";
import { NodeValues } from "./node-values.ts";
import { beginSet, endSet, readOpItem, writeDelete, writeReset, writeSync } from "./op-item.ts";
import { SCOPES } from "./scopes.ts";
import { readService } from "./service-reader.ts";
import { writeService } from "./service-writer.ts";
import { SET_ID } from "./set-id.ts";
import { readWatchRequest, writeWatchRequest } from "./watch-request.ts";

/** What the published `.proto` files say, read by a program that is not ours. */
const root = new protobuf.Root();
for (const file of ["localv1", "globalv1"]) {
  const text = readFileSync(new URL(`../proto/${file}.proto`, import.meta.url), "utf8");
  protobuf.parse(text.replace(/^import .*$/m, ""), root, { keepCase: true });
}
root.resolveAll();

const global = new GlobalWriter((bytes) => BigInt(bytes.length));
const FRAME_HEADER_BYTES = 5;

function encode(write: (writer: ProtoWriter) => void): Buffer {
  const writer = new ProtoWriter();
  write(writer);
  return Buffer.from(writer.view());
}

/** Reads our bytes as the file says and writes them again: nothing may be lost or be in another form. */
function throughTheFile(type: string, bytes: Buffer): Buffer {
  const message = root.lookupType(type);
  const plain = message.toObject(message.decode(bytes));
  return Buffer.from(message.encode(message.fromObject(plain)).finish());
}

const read = (bytes: Buffer) => new ProtoReader().reset(bytes);

test("what the files say of a node's values is what we write and read", () => {
  const values = new NodeValues();
  fc.assert(
    fc.property(nodeService, (value) => {
      const bytes = encode((writer) =>
        writeService(writer, value.service, "resolved", value.usable, value.ending),
      );
      const again = throughTheFile("localv1.Service", bytes);
      expect(values.service(value.key, readService(read(again)))).toStrictEqual(value);
    }),
  );
  fc.assert(
    fc.property(nodeEndpoint, (value) => {
      const bytes = encode((writer) => writeNodeEndpoint(writer, value, SCOPES[1]));
      const message = readEndpoint(
        read(throughTheFile("localv1.Endpoint", bytes)),
        emptyEndpointMessage(),
      );
      expect(message.scopes).toBe(SCOPES[1]);
      expect(values.endpoint(value.path, message)).toStrictEqual(value);
    }),
  );
});

test("what the files say of the global values is what we write and read", () => {
  fc.assert(
    fc.property(service, endpoint, node, (oneService, oneEndpoint, oneNode) => {
      const services = encode((writer) => global.writeServiceInfo(writer, oneService));
      const endpoints = encode((writer) => global.writeEndpointInfo(writer, oneEndpoint));
      const nodes = encode((writer) => global.writeNodeInfo(writer, oneNode));
      expect(readServiceInfo(read(throughTheFile("globalv1.ServiceInfo", services)))).toStrictEqual(
        oneService,
      );
      const again = read(throughTheFile("globalv1.EndpointInfo", endpoints));
      expect(readEndpointInfo(again, "row")).toStrictEqual(oneEndpoint);
      expect(readNodeInfo(read(throughTheFile("globalv1.NodeInfo", nodes)))).toStrictEqual(oneNode);
    }),
    { numRuns: 50 },
  );
});

test("the hash of an endpoint covers all that the message says", () => {
  const hashes = new Set<string>();
  const base = fc.sample(endpoint, { numRuns: 1, seed: 7 })[0];
  const texts: string[] = [];
  const writer = new GlobalWriter((bytes) => {
    texts.push(Buffer.from(bytes).toString("latin1"));
    return 1n;
  });
  if (base === undefined) throw new Error("no sample");
  for (const changed of [
    base,
    { ...base, podName: "another" },
    { ...base, hints: { zones: ["z9"], nodes: [] } },
    { ...base, weight: base.weight + 1 },
  ]) {
    encode((into) => writer.writeEndpointInfo(into, changed));
    hashes.add(texts.at(-1) ?? "");
  }
  expect(hashes.size).toBe(4);
});

test("operations and requests are as the files say", () => {
  const opItem = root.lookupType("localv1.OpItem");
  const decode = (write: (writer: ProtoWriter) => void) =>
    opItem.toObject(opItem.decode(encode(write).subarray(FRAME_HEADER_BYTES)), { enums: String });
  expect(decode(writeSync)).toEqual({ Sync: {} });
  expect(decode(writeReset)).toEqual({ Reset: {} });
  expect(decode((writer) => writeDelete(writer, SET_ID.endpoints, "a/b/c"))).toEqual({
    Delete: { Set: "EndpointsSet", Path: "a/b/c" },
  });
  expect(
    decode((writer) => {
      beginSet(writer, SET_ID.globalNodes, "|n||");
      writer.string(1, "x".repeat(200));
      endSet(writer);
    }),
  ).toEqual({
    Set: { Ref: { Set: "GlobalNodeInfos", Path: "|n||" }, Bytes: expect.any(Buffer) },
  });

  const set = opItem.encode({ Set: { Ref: { Set: 2, Path: "p" }, Bytes: Buffer.from("ab") } });
  const bytes = Buffer.from(set.finish());
  const op = readOpItem(read(bytes));
  expect(op).toMatchObject({ op: "set", set: 2, path: "p" });
  if (op.op === "set") expect(bytes.toString("utf8", op.start, op.end)).toBe("ab");
  expect(readOpItem(read(Buffer.from(opItem.encode({ Sync: {} }).finish())))).toEqual({
    op: "sync",
  });

  const request = encode((writer) => writeWatchRequest(writer, "node-a", [100, 104]));
  const watchReq = root.lookupType("localv1.WatchReq");
  const plain = watchReq.toObject(watchReq.decode(request.subarray(FRAME_HEADER_BYTES)));
  expect(plain).toEqual({ NodeName: "node-a", Extension: 1, Sets: [100, 104] });
  expect(readWatchRequest(read(Buffer.from(watchReq.encode(plain).finish())))).toEqual({
    nodeName: "node-a",
    extension: 1,
    sets: [100, 104],
  });
});
