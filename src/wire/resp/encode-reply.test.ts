import { expect, test } from "vitest";
import { encodeReply, type RespReply, type TextReply } from "./encode-reply.ts";

const bulk = (text: string): TextReply => ({ kind: "bulk", text });

test.each<[RespReply, string, string]>([
  [{ kind: "simple", text: "OK" }, "+OK\r\n", "+OK\r\n"],
  [{ kind: "number", value: 12 }, ":12\r\n", ":12\r\n"],
  [{ kind: "number", value: -3 }, ":-3\r\n", ":-3\r\n"],
  [{ kind: "number", value: 1.5 }, "$3\r\n1.5\r\n", ",1.5\r\n"],
  [{ kind: "number", value: Number.POSITIVE_INFINITY }, "$8\r\nInfinity\r\n", ",inf\r\n"],
  [{ kind: "number", value: Number.NaN }, "$3\r\nNaN\r\n", ",nan\r\n"],
  [{ kind: "boolean", value: true }, ":1\r\n", "#t\r\n"],
  [{ kind: "boolean", value: false }, ":0\r\n", "#f\r\n"],
  [bulk(""), "$0\r\n\r\n", "$0\r\n\r\n"],
  [bulk("a\r\nb"), "$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n"],
  [{ kind: "verbatim", text: "\u00e4\nb" }, "$4\r\n\u00e4\nb\r\n", "=8\r\ntxt:\u00e4\nb\r\n"],
  [{ kind: "array", items: [] }, "*0\r\n", "*0\r\n"],
  [
    { kind: "array", items: [bulk("a"), { kind: "array", items: [bulk("b")] }] },
    "*2\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n",
    "*2\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n",
  ],
  [
    { kind: "map", entries: [["k", { kind: "number", value: 1 }]] },
    "*2\r\n$1\r\nk\r\n:1\r\n",
    "%1\r\n$1\r\nk\r\n:1\r\n",
  ],
])("%j", (reply, two, three) => {
  expect(encodeReply(reply, 2).toString()).toBe(two);
  expect(encodeReply(reply, 3).toString()).toBe(three);
});

test("lengths count bytes, also of what is more than one, and of halves of characters", () => {
  for (const text of ["\u00e4", "\u20ac", "\u{1f30d}", "\ud800", "a\u00e4\u{1f30d}\udfffb"]) {
    const bytes = encodeReply(bulk(text), 2);
    const head = bytes.indexOf("\r\n");
    const length = Number(bytes.toString("latin1", 1, head));
    expect(bytes.length).toBe(head + 2 + length + 2);
    expect(bytes.subarray(-2).toString()).toBe("\r\n");
  }
});

test("errors are one line, whatever they say", () => {
  const message = "ports[0]: missing;\r\n  expected a port\nname: missing\u0007";
  expect(encodeReply({ kind: "error", word: "ERR", message }, 2).toString()).toBe(
    "-ERR ports[0]: missing;; expected a port; name: missing \r\n",
  );
  expect(encodeReply({ kind: "simple", text: "a\nb" }, 3).toString()).toBe("+a; b\r\n");
});

test("bytes that are no text go out as they are", () => {
  const bytes = Buffer.from([0xff, 0x0d, 0x0a, 0x00]);
  expect(encodeReply({ kind: "bytes", bytes }, 2).toString("hex")).toBe("24340d0aff0d0a000d0a");
});
