import { expect, test } from "vitest";
import { NetlinkWriter } from "../netlink-writer.ts";
import { type ElementMessage, writeElementBatch } from "./element-batch.ts";
import { ElementEncoder, type ElementText } from "./element-encoder.ts";
import { parseElementLayout } from "./element-layout.ts";

const SERVICES = "type ipv4_addr . inet_proto . inet_service : verdict";
const ENDPOINTS = "type ipv4_addr . inet_proto . inet_service . classid : ipv4_addr . inet_service";
const ENDPOINTS_V6 =
  "type ipv6_addr . inet_proto . inet_service . classid : ipv6_addr . inet_service";
const CHOICES = "type ipv4_addr . inet_proto . inet_service . classid : classid";

function message(
  verb: ElementMessage["verb"],
  type: string,
  ...texts: readonly ElementText[]
): ElementMessage {
  const layout = parseElementLayout(type);
  if (layout === undefined) throw new Error(`no layout: ${type}`);
  const encoder = new ElementEncoder(layout, verb);
  for (const text of texts) {
    if (!encoder.add(text)) throw new Error(`no element: ${JSON.stringify(text)}`);
  }
  const family = type === ENDPOINTS_V6 ? "v6" : "v4";
  return { verb, family, table: "t", container: "c", elements: encoder.take() };
}

function written(...messages: readonly ElementMessage[]): string {
  const writer = new NetlinkWriter();
  writeElementBatch(writer, 5, messages);
  return Buffer.from(writer.written()).toString("hex");
}

/** The part of the only message that names its elements. */
function elementsIn(text: string): string {
  const bracketBytes = 20;
  const beforeElements = bracketBytes + 16 + 4 + 8 + 8 + 4;
  return text.slice(2 * beforeElements, -2 * bracketBytes);
}

/** What nft 1.0.6 sent for the same text. */
test.each<[string, ElementMessage["verb"], string, readonly ElementText[], string]>([
  [
    "a verdict that goes to a chain, with a comment",
    "add",
    SERVICES,
    [{ key: "10.96.0.1 . tcp . 80", value: "goto random-3", comment: "default/web:http" }],
    "5000018014000180100001000a6000010600000000500000200002801c00028008000100fffffffc0d00020072616e646f6d2d330000000017000600001164656661756c742f7765623a687474700000",
  ],
  [
    "a verdict without a chain",
    "add",
    SERVICES,
    [{ key: "10.96.0.1 . sctp . 81", value: "drop" }],
    "2800018014000180100001000a6000018400000000510000100002800c0002800800010000000000",
  ],
  [
    "several, with concatenated values",
    "add",
    ENDPOINTS,
    [
      { key: "10.96.0.1 . tcp . 80 . 0:1", value: "10.1.0.1 . 8080" },
      { key: "10.96.0.1 . tcp . 80 . 1a2b:3c4d", value: "10.1.0.2 . 8080" },
    ],
    "2c00018018000180140001000a600001060000000050000001000000100002800c0001000a0100011f9000002c00028018000180140001000a60000106000000005000004d3c2b1a100002800c0001000a0100021f900000",
  ],
  [
    "a number as value",
    "add",
    CHOICES,
    [{ key: "10.96.0.1 . tcp . 80 . 0:1", value: "1a2b:3c4d" }],
    "2800018018000180140001000a6000010600000000500000010000000c000280080001004d3c2b1a",
  ],
  [
    "IPv6",
    "add",
    ENDPOINTS_V6,
    [{ key: "fd00::1 . udp . 53 . 0:1", value: "fd00:1::1 . 53" }],
    "440001802400018020000100fd0000000000000000000000000000011100000000350000010000001c00028018000100fd00000100000000000000000000000100350000",
  ],
  [
    "members of a set",
    "add",
    "type ipv4_addr",
    [{ key: "10.96.0.1" }],
    "100001800c000180080001000a600001",
  ],
  [
    "members of two parts",
    "add",
    "type ipv4_addr . ipv4_addr",
    [{ key: "10.1.0.1 . 10.1.0.1" }],
    "14000180100001800c0001000a0100010a010001",
  ],
  [
    "what is deleted, by its key alone",
    "delete",
    SERVICES,
    [{ key: "10.96.0.1 . tcp . 80", value: "goto random-3", comment: "default/web:http" }],
    "1800018014000180100001000a6000010600000000500000",
  ],
])("writes the bytes of nft: %s", (_name, verb, type, texts, bytes) => {
  expect(elementsIn(written(message(verb, type, ...texts)))).toBe(bytes);
});

test("a batch stands in brackets with the number of the last message, which asks for an answer", () => {
  const key = "10.96.0.1";
  const text = written(
    message("delete", "type ipv4_addr", { key }),
    message("add", "type ipv4_addr", { key }),
  );
  const elements =
    "06000100 74000000 06000200 63000000 14000380 10000180 0c000180 08000100 0a600001";
  expect(text).toBe(
    [
      "14000000 1000 0100 06000000 00000000 0000000a",
      `38000000 0e0a 0100 05000000 00000000 02000000 ${elements}`,
      `38000000 0c0a 0504 06000000 00000000 02000000 ${elements}`,
      "14000000 1100 0100 06000000 00000000 0000000a",
    ]
      .join("")
      .replaceAll(" ", ""),
  );
});
