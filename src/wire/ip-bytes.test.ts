import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalIp } from "../core/model/address.ts";
import { readIp, writeIp } from "./ip-bytes.ts";

function bytesOf(ip: string): string {
  const out = Buffer.alloc(18, 0xa5);
  const length = writeIp(ip, out, 1);
  expect([out[0], out[17]]).toEqual([0xa5, 0xa5]);
  return out.subarray(1, 1 + length).toString("hex");
}

test.each([
  ["10.0.0.255", "0a0000ff"],
  ["::", "00000000000000000000000000000000"],
  ["::1", "00000000000000000000000000000001"],
  ["fd00::", "fd000000000000000000000000000000"],
  ["2001:db8::a:0:0:1", "20010db800000000000a000000000001"],
  ["1:2:3:4:5:6:7:8", "00010002000300040005000600070008"],
  ["::ffff:10.0.0.1", "00000000000000000000ffff0a000001"],
])("%s is %s", (ip, hex) => {
  expect(bytesOf(ip)).toBe(hex);
});

test.each([
  "",
  "10.0.0",
  "10.0.0.0.1",
  "10.0.0.256",
  "10..0.1",
  "10.0.0.1x",
  "1:2:3:4:5:6:7",
  "1:2:3:4:5:6:7:8:9",
  "1:2:3:4:5:6:7:8::",
  "1::2::3",
  ":1:2",
  "::12345",
  "::g",
  "::10.0.0.1:1",
  "1:2:3:4:5:6:7:10.0.0.1",
  "/run/x.sock",
])("%j is no address", (text) => {
  expect(writeIp(text, Buffer.alloc(18), 1)).toBe(0);
});

test("every address comes back as the canonical text", () => {
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
  const sparse = fc.array(fc.constantFrom(0, 0, 0, 1, 255), { minLength: 16, maxLength: 16 });
  fc.assert(
    fc.property(
      fc.oneof(
        bytes,
        sparse.map((list) => Uint8Array.from(list)),
      ),
      (address) => {
        for (const length of [4, 16] as const) {
          const text = readIp(address, 0, length);
          expect(canonicalIp(text)).toBe(text);
          const out = new Uint8Array(16);
          expect(writeIp(text, out, 0)).toBe(length);
          expect(out.subarray(0, length)).toEqual(address.subarray(0, length));
        }
      },
    ),
  );
});
