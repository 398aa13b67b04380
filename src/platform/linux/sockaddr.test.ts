import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalIp } from "../../core/model/address.ts";
import { ipAddress, type SocketAddress, unixAddress } from "../socket-address.ts";
import { SOCKADDR_BYTES } from "./abi.ts";
import { getSockaddr, ipv4Number, ipv4Text, putSockaddr, sockaddrKey } from "./sockaddr.ts";

const OFFSET = 8;

/** From bytes that are not zero, so that what is not written shows. */
function encode(address: SocketAddress): { view: DataView; hex: string; length: number } {
  const bytes = new Uint8Array(OFFSET + SOCKADDR_BYTES).fill(0xa5);
  const view = new DataView(bytes.buffer);
  const length = putSockaddr(view, OFFSET, address);
  const hex = Buffer.from(bytes.subarray(OFFSET, OFFSET + length)).toString("hex");
  return { view, hex, length };
}

test.each([
  [ipAddress("127.0.0.1", 80), "020000507f0000010000000000000000"],
  [ipAddress("fd00::1", 443), "0a0001bb00000000fd00000000000000000000000000000100000000"],
  [unixAddress("/a"), "01002f6100"],
  [unixAddress("@a"), "01000061"],
])("writes %o as the kernel has it, and reads it back", (address, expected) => {
  const { view, hex, length } = encode(address);
  expect(hex).toBe(expected);
  expect(getSockaddr(view, OFFSET, length)).toEqual(address);
});

test("a socket without a name has an empty path", () => {
  const view = new DataView(new ArrayBuffer(SOCKADDR_BYTES));
  view.setUint16(0, 1, true);
  expect(getSockaddr(view, 0, 2)).toEqual(unixAddress(""));
  expect(getSockaddr(view, 0, 0)).toEqual(unixAddress(""));
});

test("the longest path fits, a longer one is refused with the limit", () => {
  const longest = `/${"x".repeat(106)}`;
  const { view, length } = encode(unixAddress(longest));
  expect(getSockaddr(view, OFFSET, length)).toEqual(unixAddress(longest));
  expect(() => encode(unixAddress(`${longest}x`))).toThrow("at most 107 bytes");
});

test("every IP address comes back as it was", () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat({ max: 65_535 }), (text, port) => {
      const ip = canonicalIp(text);
      fc.pre(ip !== undefined);
      const address = ipAddress(ip ?? "", port);
      const { view, length } = encode(address);
      expect(getSockaddr(view, OFFSET, length)).toEqual(address);
    }),
  );
});

test("IPv4 as numbers", () => {
  expect(ipv4Number("255.254.1.2")).toBe(0xfffe0102);
  expect(ipv4Text(0xfffe0102)).toBe("255.254.1.2");
});

test("keys tell addresses and ports apart", () => {
  const keyOf = (address: SocketAddress): number | string => {
    const { view, length } = encode(address);
    return sockaddrKey(view, OFFSET, length);
  };
  const addresses = [
    ipAddress("10.0.0.1", 80),
    ipAddress("10.0.0.1", 81),
    ipAddress("10.0.0.2", 80),
    ipAddress("fd00::1", 80),
    ipAddress("fd00::1", 81),
  ];
  expect(new Set(addresses.map(keyOf)).size).toBe(addresses.length);
  expect(keyOf(ipAddress("10.0.0.1", 80))).toBe(keyOf(ipAddress("10.0.0.1", 80)));
});
