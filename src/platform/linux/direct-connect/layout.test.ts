import { expect, test } from "vitest";
import { frontendKey, putFrontend, putSlot, SLOT, slotKey } from "./layout.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

test("a place: IPv4 as it is mapped into IPv6, then the port as packets have it", () => {
  expect(hex(frontendKey({ ip: "10.96.0.255", port: 8080 }))).toBe(
    "00000000000000000000ffff0a6000ff1f900000",
  );
  expect(hex(frontendKey({ ip: "fd00:96::10", port: 80 }))).toBe(
    "fd00009600000000000000000000001000500000",
  );
});

test("a frontend and a slot, where they belong among others", () => {
  const place = { ip: "10.96.0.1", port: 80 };
  const other = { ip: "fd00::1", port: 443 };
  const keys = new Uint8Array(4 + 20);
  const values = new Uint8Array(4 + SLOT.valueBytes);
  const at = { keys, keyAt: 4, values, valueAt: 4 };
  putFrontend({ place, list: 0x0102_0304, slotCount: 3 }, at);
  expect(hex(keys)).toBe(`00000000${hex(frontendKey(place))}`);
  expect(hex(values.subarray(0, 12))).toBe("000000000403020103000000");
  for (const bytes of [keys, values]) bytes.fill(0);
  putSlot({ list: 7, number: 2, slot: { threshold: 0xffff_fffe, first: place, other } }, at);
  expect(hex(keys.subarray(0, 12))).toBe(`00000000${hex(slotKey(7, 2))}`);
  expect(hex(values)).toBe(`00000000feffffff${hex(frontendKey(place))}${hex(frontendKey(other))}`);
});
