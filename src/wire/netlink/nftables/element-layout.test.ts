import { expect, test } from "vitest";
import { encodeFields, parseElementLayout } from "./element-layout.ts";
import { encodeElement } from "./encode-element.ts";

function layoutOf(type: string) {
  const layout = parseElementLayout(type);
  if (layout === undefined) throw new Error(`no layout: ${type}`);
  return layout;
}

const bytesOf = (type: string, text: string) => {
  const bytes = encodeFields(layoutOf(type).key, text);
  return bytes && Buffer.from(bytes).toString("hex");
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
  expect(encodeElement(layoutOf(type), element)).toBeUndefined();
});
