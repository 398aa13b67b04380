import { expect, test } from "vitest";
import { sampleEndpoint, sampleService } from "../../../test/support/samples.ts";
import type { NodeEndpoint, Op } from "../../core/view/ops.ts";
import { FrameDecoder } from "../../wire/grpc/frame-decoder.ts";
import { ProtoReader } from "../../wire/protobuf/proto-reader.ts";
import { ProtoWriter } from "../../wire/protobuf/proto-writer.ts";
import { writeNodeEndpoint } from "../../wire/sets/endpoint-writer.ts";
import { beginSet, endSet, readOpItem, writeReset } from "../../wire/sets/op-item.ts";
import { writeService } from "../../wire/sets/service-writer.ts";
import { SET_ID } from "../../wire/sets/set-id.ts";
import { NodeMirror } from "./node-mirror.ts";

const web = sampleService({ name: "web" });
const nodeEndpoint = (ip: string, weight = 1): NodeEndpoint => ({
  path: `default/web/${ip}`,
  service: "default/web",
  group: "default/web",
  endpoint: sampleEndpoint({ group: "web", addresses: [ip], weight }),
  local: false,
  ports: [{ name: "", target: 8080, clusterFor: ["v4"], localFor: [] }],
});

type Write = (writer: ProtoWriter) => void;

const setService: Write = (writer) => {
  beginSet(writer, SET_ID.services, "default/web");
  writeService(writer, web, "resolved", [["v4"]]);
  endSet(writer);
};
const setEndpoint =
  (ip: string, weight?: number): Write =>
  (writer) => {
    beginSet(writer, SET_ID.endpoints, `default/web/${ip}`);
    writeNodeEndpoint(writer, nodeEndpoint(ip, weight), undefined);
    endSet(writer);
  };

/** Sends messages to the mirror as they come from the wire. */
function send(mirror: NodeMirror, ...messages: readonly Write[]): void {
  const writer = new ProtoWriter();
  for (const write of messages) write(writer);
  const decoder = new FrameDecoder(10_000);
  decoder.feed(Buffer.from(writer.view()));
  const reader = new ProtoReader();
  while (decoder.next()) {
    const op = readOpItem(reader.reset(decoder.bytes, decoder.start, decoder.end));
    if (op.op !== "sync" && op.op !== "unknown") mirror.add(op, reader);
  }
}

function change(mirror: NodeMirror, ...messages: readonly Write[]): readonly Op[] | undefined {
  mirror.begin();
  send(mirror, ...messages);
  return mirror.commit();
}

const words = (ops: readonly Op[] = []) =>
  ops.map((op) => ("path" in op ? `${op.op} ${op.path}` : op.op));

test("values arrive as they were sent", () => {
  const ops = change(new NodeMirror("node-a"), writeReset, setService, setEndpoint("10.0.0.1"));
  expect(ops?.[2]).toEqual({
    op: "set",
    set: "endpoints",
    path: "default/web/10.0.0.1",
    value: nodeEndpoint("10.0.0.1"),
  });
});

test("sets and operations of a time to come are passed over", () => {
  const future: Write = (writer) => {
    beginSet(writer, 999, "some/thing");
    writer.string(1, "unknown");
    endSet(writer);
    writer.beginFrame();
    writer.begin(77);
    writer.end();
    writer.endFrame();
  };
  expect(words(change(new NodeMirror("node-a"), writeReset, future))).toEqual(["reset", "sync"]);
});

test("an endpoint without its service is refused, and what was before it stays", () => {
  const mirror = new NodeMirror("node-a");
  expect(() => change(mirror, writeReset, setEndpoint("10.0.0.1"))).toThrow(
    "endpoint default/web/10.0.0.1 came from the API without its service default/web",
  );
  change(mirror, writeReset, setService, setEndpoint("10.0.0.1"));
  expect(() => change(mirror, writeReset, setEndpoint("10.0.0.2"))).toThrow(/without its service/);
  expect(words(change(mirror, setEndpoint("10.0.0.2")))).toEqual([
    "set default/web/10.0.0.2",
    "sync",
  ]);
});

test("a change that broke off is forgotten", () => {
  const mirror = new NodeMirror("node-a");
  change(mirror, writeReset, setService);
  mirror.begin();
  send(mirror, setEndpoint("10.0.0.1"));
  expect(words(change(mirror, setEndpoint("10.0.0.2")))).toEqual([
    "set default/web/10.0.0.2",
    "sync",
  ]);
});

test("after a reset only what is different is told", () => {
  const mirror = new NodeMirror("node-a");
  const all = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((ip) => setEndpoint(ip));
  change(mirror, writeReset, setService, ...all);
  expect(change(mirror, writeReset, setService, ...all)).toBeUndefined();
  const kept = setEndpoint("10.0.0.1");
  expect(words(change(mirror, writeReset, setService, kept, setEndpoint("10.0.0.2", 7)))).toEqual([
    "set default/web/10.0.0.2",
    "delete default/web/10.0.0.3",
    "sync",
  ]);
});
