import { expect, test } from "vitest";
import { eachSplit } from "../../../test/support/each-split.ts";
import { ListDecoder } from "./list-decoder.ts";

const LIMIT = 10_000;

function decode(chunks: Iterable<Uint8Array>, maxItemBytes = LIMIT) {
  const items: unknown[] = [];
  const decoder = new ListDecoder((item) => items.push(item), maxItemBytes);
  for (const chunk of chunks) decoder.feed(chunk);
  return { items, around: decoder.finish() };
}

const bytes = (text: string) => [Buffer.from(text)];

const LIST = {
  kind: "ServiceList",
  metadata: { resourceVersion: "7", continue: 'a"]}[{' },
  items: [
    { metadata: { name: 'a "quoted" \\ name', labels: { items: "[{" } }, ports: [[1], {}] },
    {},
    { text: "é日本 ]}", nested: { items: [{ deep: true }] } },
  ],
};

test("entries come as they are, wherever the bytes are cut", () => {
  for (const space of [0, 2]) {
    const text = Buffer.from(JSON.stringify(LIST, undefined, space));
    for (const chunks of eachSplit(text)) {
      const { items, around } = decode(chunks);
      expect(items).toEqual(LIST.items);
      expect(around).toEqual({ ...LIST, items: [] });
    }
  }
});

test("a list may say its entries before its version, or have none", () => {
  expect(decode(bytes('{"items":[{"a":1}],"metadata":{}}')).items).toEqual([{ a: 1 }]);
  expect(decode(bytes('{"metadata":{},"items":[]}')).items).toEqual([]);
  expect(decode(bytes('{"metadata":{},"items":null}')).items).toEqual([]);
  expect(decode(bytes('{"other":[{"a":1}],"items":[{}]}')).items).toEqual([{}]);
});

test.each([
  ["an end too early", '{"metadata":{},"items":[{"a":1},'],
  ["nothing at all", ""],
  ["no JSON", '{"items":[{"a":}]}'],
  ["an entry that is no object", '{"items":[1]}'],
])("refuses %s", (_, text) => {
  expect(() => decode(bytes(text))).toThrow(expect.objectContaining({ code: "ERR_API_PROTOCOL" }));
});

test("an entry, and what stands around them, have a limit", () => {
  const long = "x".repeat(200);
  expect(() => decode(bytes(`{"items":[{"a":"${long}"}]}`), 100)).toThrow("more than 100 bytes");
  expect(() => decode(bytes(`{"a":"${long}","items":[]}`), 100)).toThrow("more than 100 bytes");
});
