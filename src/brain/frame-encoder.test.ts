import { expect, test } from "vitest";
import { parseKind } from "../core/model/parse.ts";
import { FrameEncoder } from "./frame-encoder.ts";

const CACHE_BYTES = 100_000;
const node = parseKind("Node", { name: "a", subnets: ["10.18.0.0/26"] });
const op = { op: "set", set: "nodes", path: "a", value: node } as const;

function messageOf(encoder: FrameEncoder, make: () => void): string {
  make();
  return encoder.take().toString("hex");
}

test("a node has one message in the set of nodes and another as an object, whichever was made first", () => {
  const alone = new FrameEncoder(CACHE_BYTES, () => false);
  const inSet = messageOf(alone, () => alone.furtherSet(op));
  const asObject = messageOf(alone, () => alone.object(node));
  expect(inSet).not.toBe(asObject);
  const shared = new FrameEncoder(CACHE_BYTES, () => true);
  for (let round = 0; round < 2; round += 1) {
    expect(messageOf(shared, () => shared.furtherSet(op))).toBe(inSet);
    expect(messageOf(shared, () => shared.object(node))).toBe(asObject);
  }
});

test("one that has changed is told as it is", () => {
  const encoder = new FrameEncoder(CACHE_BYTES, () => true);
  const before = messageOf(encoder, () => encoder.furtherSet(op));
  const dead = { ...op, value: { ...node, alive: false } };
  expect(messageOf(encoder, () => encoder.furtherSet(dead))).not.toBe(before);
});
