import { expect, test } from "vitest";
import { ElementEncoder } from "./element-encoder.ts";
import { parseElementLayout, writeFields } from "./element-layout.ts";

function layoutOf(type: string) {
  const layout = parseElementLayout(type);
  if (layout === undefined) throw new Error(`no layout: ${type}`);
  return layout;
}

const bytesOf = (type: string, text: string) => {
  const { key } = layoutOf(type);
  const bytes = Buffer.alloc(key.byteCount);
  return writeFields(key, text, bytes, 0) ? bytes.toString("hex") : undefined;
};

test.each([
  "typeof numgen random mod 1 : meta priority",
  "type ether_addr",
  "type ipv4_addr . mark",
  "type ipv4_addr : mark",
  "",
])("a type that is not known has no layout: %j", (type) => {
  expect(parseElementLayout(type)).toBeUndefined();
});

test("parts of a concatenation are padded, one alone is not", () => {
  expect(bytesOf("type inet_service", "443")).toBe("01bb");
  expect(bytesOf("type inet_proto . inet_service", "udp . 443")).toBe("1100000001bb0000");
});

test("a class is in the byte order of the machine", () => {
  expect(bytesOf("type classid", "ffff:1")).toBe("0100ffff");
});

test.each([
  ["type ipv4_addr", "fd00::1"],
  ["type ipv6_addr", "10.0.0.1"],
  ["type ipv4_addr", "10.0.0.0/8"],
  ["type ipv4_addr", "10.0.0.1 . 10.0.0.1"],
  ["type ipv4_addr . ipv4_addr", "10.0.0.1"],
  ["type inet_proto", "icmp"],
  ["type inet_service", "http"],
  ["type inet_service", "65536"],
  ["type classid", "1"],
  ["type classid", "0:12345"],
  ["type classid", ":1"],
  ["type classid", "0:x"],
])("what is not of the type is not written: %s, %s", (type, text) => {
  expect(bytesOf(type, text)).toBeUndefined();
});

test.each([
  ["type inet_service", { key: "1", value: "drop" }],
  ["type inet_service : verdict", { key: "1" }],
  ["type inet_service : verdict", { key: "1", value: "queue" }],
  ["type inet_service : classid", { key: "1", value: "drop" }],
  ["type inet_service : classid", { key: "x", value: "0:1" }],
])("an element that does not fit is not written: %s, %j", (type, element) => {
  expect(new ElementEncoder(layoutOf(type), "add").add(element)).toBe(false);
});

test("elements are taken once, and counted anew after that", () => {
  const encoder = new ElementEncoder(layoutOf("type inet_service"), "add");
  encoder.add({ key: "1" });
  encoder.add({ key: "2" });
  const { count, bytes } = encoder.take();
  expect([count, encoder.count]).toEqual([2, 0]);
  encoder.add({ key: "1" });
  expect(encoder.take()).toEqual({ count: 1, bytes: bytes.subarray(0, bytes.length / 2) });
});
