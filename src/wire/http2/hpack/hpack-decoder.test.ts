import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FieldList } from "./field-list.ts";
import { HeaderBlockWriter } from "./header-block-writer.ts";
import { HpackDecoder } from "./hpack-decoder.ts";
import { headerField } from "./static-table.ts";

const LIMITS = { maxListBytes: 65_536, maxFields: 100 };
const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(" ", ""), "hex");

function decode(decoder: HpackDecoder, block: Buffer): readonly string[] | undefined {
  const list = new FieldList(LIMITS);
  if (!decoder.decode(block, 0, block.length, list)) return undefined;
  return list.fields.map(({ name, value }) => `${name.text}: ${value}`);
}

const decodeHex = (hex: string, tableBytes = 4096) =>
  decode(new HpackDecoder(tableBytes), bytesOf(hex));

const REQUESTS = [
  [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"],
  [
    ":method: GET",
    ":scheme: http",
    ":path: /",
    ":authority: www.example.com",
    "cache-control: no-cache",
  ],
  [
    ":method: GET",
    ":scheme: https",
    ":path: /index.html",
    ":authority: www.example.com",
    "custom-key: custom-value",
  ],
];

const COOKIE = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";
const RESPONSES = [
  [
    ":status: 302",
    "cache-control: private",
    "date: Mon, 21 Oct 2013 20:13:21 GMT",
    "location: https://www.example.com",
  ],
  [
    ":status: 307",
    "cache-control: private",
    "date: Mon, 21 Oct 2013 20:13:21 GMT",
    "location: https://www.example.com",
  ],
  [
    ":status: 200",
    "cache-control: private",
    "date: Mon, 21 Oct 2013 20:13:22 GMT",
    "location: https://www.example.com",
    "content-encoding: gzip",
    `set-cookie: ${COOKIE}`,
  ],
];

describe("RFC 7541, appendix C", () => {
  test.each([
    [
      "C.2.1",
      "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
      "custom-key: custom-header",
    ],
    ["C.2.2", "040c 2f73 616d 706c 652f 7061 7468", ":path: /sample/path"],
    ["C.2.3", "1008 7061 7373 776f 7264 0673 6563 7265 74", "password: secret"],
    ["C.2.4", "82", ":method: GET"],
  ])("%s", (_, hex, field) => {
    expect(decodeHex(hex)).toEqual([field]);
  });

  test.each([
    [
      "C.3: requests",
      4096,
      REQUESTS,
      [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
      ],
    ],
    [
      "C.4: requests in Huffman code",
      4096,
      REQUESTS,
      [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
      ],
    ],
    [
      "C.5: responses, with eviction",
      256,
      RESPONSES,
      [
        "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "4803 3330 37c1 c0bf",
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31",
      ],
    ],
    [
      "C.6: responses in Huffman code, with eviction",
      256,
      RESPONSES,
      [
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
      ],
    ],
  ])("%s", (_, tableBytes, expected, blocks) => {
    const decoder = new HpackDecoder(tableBytes);
    expect(blocks.map((hex) => decode(decoder, bytesOf(hex)))).toEqual(expected);
  });
});

test.each([
  ["an index of 0", "80"],
  ["an index that no table has", "be"],
  ["a name of an index that no table has", "7e01 61"],
  ["an integer without end", "ff ff ff ff ff ff ff ff"],
  ["an integer that is cut off", "ff"],
  ["a text that is cut off", "400a 6375"],
  ["a table larger than was said", "3f e2 1f"],
  ["another size of the table after a field", "82 20"],
  ["Huffman code with zeros at its end", "4001 6181 18"],
  ["Huffman code with a byte of padding", "4001 6182 1fff"],
  ["the symbol that ends Huffman code", "4001 6184 ffff ffff"],
])("refuses %s", (_, hex) => {
  expect(decodeHex(hex)).toBeUndefined();
});

test("a table may be made smaller and larger again, up to what was said", () => {
  const decoder = new HpackDecoder(4096);
  expect(decode(decoder, bytesOf("4001 6101 62"))).toEqual(["a: b"]);
  expect(decode(decoder, bytesOf("20 3fe1 1f 4001 6301 64"))).toEqual(["c: d"]);
  expect(decode(decoder, bytesOf("be"))).toEqual(["c: d"]);
  expect(decode(decoder, bytesOf("bf"))).toBeUndefined();
});

test("what must never be indexed stays so on its way", () => {
  const list = new FieldList(LIMITS);
  const block = bytesOf("1008 7061 7373 776f 7264 0673 6563 7265 74");
  new HpackDecoder(4096).decode(block, 0, block.length, list);
  const writer = new HeaderBlockWriter();
  for (const field of list.fields) writer.field(field);
  expect(writer.bytes.equals(block)).toBe(true);
});

test("a few bytes that stand for many are counted, not copied; what is too much is not kept", () => {
  const decoder = new HpackDecoder(4096);
  const value = "x".repeat(4000);
  const first = new HeaderBlockWriter();
  first.field(headerField("a", value));
  const literal = Buffer.from(first.bytes);
  literal[0] = 0x40;
  const bomb = Buffer.concat([literal, Buffer.alloc(60_000, 0xbe)]);
  const list = new FieldList({ maxListBytes: 65_536, maxFields: 100 });
  expect(decoder.decode(bomb, 0, bomb.length, list)).toBe(true);
  expect(list.isTooLarge).toBe(true);
  expect(list.fields.length).toBeLessThan(20);
});

test.each([
  ["X-Upper", "value", false],
  ["x y", "value", false],
  ["", "value", false],
  ["x", "a\r\nb", false],
  ["x", "a\0", false],
  ["x", " a", false],
  ["x", "a\t", false],
  ["x", "", true],
  ["x-token_~!", "any thing \u00ff", true],
])("whether %j: %j may stand in a message: %s", (name, value, isValid) => {
  expect(headerField(name, value).isValid).toBe(isValid);
});

test("what is written is read again, whatever it is", () => {
  const text = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    maxLength: 300,
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 20 }), (pairs) => {
      const writer = new HeaderBlockWriter();
      for (const [name, value] of pairs) writer.field(headerField(name, value));
      const decoder = new HpackDecoder(4096);
      expect(decode(decoder, writer.bytes)).toEqual(
        pairs.map(([name, value]) => `${name}: ${value}`),
      );
    }),
  );
});

test("random bytes are fields or malformed, and never throw", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), (blocks) => {
      const decoder = new HpackDecoder(256);
      for (const block of blocks) decode(decoder, Buffer.from(block));
    }),
    { numRuns: 1000 },
  );
});
