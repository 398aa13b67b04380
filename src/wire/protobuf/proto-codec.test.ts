import fc from "fast-check";
import { expect, test } from "vitest";
import { ProtoReader } from "./proto-reader.ts";
import { ProtoWriter } from "./proto-writer.ts";

const hex = (write: (writer: ProtoWriter) => void): string => {
  const writer = new ProtoWriter(1);
  write(writer);
  return writer.view().toString("hex");
};

const reader = (text: string) => new ProtoReader().reset(Buffer.from(text, "hex"));

test("writes what the specification shows", () => {
  expect(hex((writer) => writer.uint32(1, 150))).toBe("089601");
  expect(hex((writer) => writer.string(2, "testing"))).toBe("120774657374696e67");
  expect(hex((writer) => writer.packed(6, [3, 270, 86_942]))).toBe("3206038e029ea705");
  expect(hex((writer) => writer.uint64(1, 0xffff_ffff_ffff_ffffn))).toBe("08ffffffffffffffffff01");
});

test("leaves defaults out, unless they have to be said", () => {
  expect(
    hex((writer) => {
      writer.uint32(1, 0);
      writer.bool(2, false);
      writer.string(3, "");
      writer.uint64(4, 0n);
      writer.packed(5, []);
      writer.map(6, {});
    }),
  ).toBe("");
  expect(hex((writer) => writer.uint32Always(1, 0))).toBe("0800");
});

test("writes maps by ascending keys", () => {
  const entry = (key: string) => Buffer.from(`\n\x01${key}\x12\x01v`).toString("hex");
  expect(hex((writer) => writer.map(1, { b: "v", a: "v" }))).toBe(
    `0a06${entry("a")}0a06${entry("b")}`,
  );
});

test("nested messages of any length and strings of any kind come back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 20_000 }), fc.nat(3), (text, depth) => {
      const writer = new ProtoWriter(1);
      for (let level = 0; level < depth; level++) writer.begin(1);
      writer.string(2, text);
      for (let level = 0; level < depth; level++) writer.end();
      const read = new ProtoReader().reset(Buffer.from(writer.view()));
      for (let level = 0; level < depth; level++) {
        expect(read.next()).toBe(1);
        read.enter();
      }
      expect(read.next()).toBe(text === "" ? 0 : 2);
      if (text !== "") expect(read.string()).toBe(text);
    }),
  );
});

test("passes over fields of every wire type that it does not know", () => {
  const read = reader("089601" + "1100000000000000ff" + "1a0374657a" + "25000000ff" + "2801");
  for (const field of [1, 2, 3, 4]) {
    expect(read.next()).toBe(field);
    read.skip();
  }
  expect(read.next()).toBe(5);
  expect(read.bool()).toBe(true);
  expect(read.next()).toBe(0);
});

test("reads negative numbers, which take ten bytes", () => {
  const read = reader("08ffffffffffffffffff01");
  read.next();
  expect(read.int32()).toBe(-1);
});

test.each([
  ["a number that is cut off", "0896"],
  ["a number of more than ten bytes", "08ffffffffffffffffffff01"],
  ["a length beyond the end", "12057465"],
  ["a fixed value that is cut off", "110000"],
  ["a group", "0b"],
  ["field 0", "0001"],
])("refuses %s", (_, text) => {
  const read = reader(text);
  expect(() => {
    read.next();
    read.skip();
  }).toThrow(expect.objectContaining({ code: "ERR_API_PROTOCOL" }));
});

test("a nested message can not be read past its end", () => {
  const read = reader("0a02080110020a");
  read.next();
  const outer = read.enter();
  expect(read.next()).toBe(1);
  expect(read.uint32()).toBe(1);
  expect(read.next()).toBe(0);
  read.leave(outer);
  expect(read.next()).toBe(2);
});
