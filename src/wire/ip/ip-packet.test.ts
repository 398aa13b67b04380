import fc from "fast-check";
import { expect, test } from "vitest";
import { ipOfWords, wordsOfIp } from "./address-words.ts";
import { clampMss } from "./clamp-mss.ts";
import { mayBeFragmented, writeTooBig } from "./icmp-error.ts";
import { FIRST_FRAGMENT, IpPacket, LATER_FRAGMENT, NOT_A_FRAGMENT } from "./ip-packet.ts";
import { hasRightChecksums, packetOf, viewOf } from "./packets.fixture.ts";

const SYN = { source: "10.0.0.1", destination: "10.0.0.2", protocol: "tcp" } as const;

function parsed(bytes: Uint8Array): IpPacket | undefined {
  const packet = new IpPacket();
  return packet.parse(viewOf(bytes), 0, bytes.length) ? packet : undefined;
}

test("whatever comes, reading stays inside of it", () => {
  const first = fc.constantFrom(0x45, 0x46, 0x4f, 0x60, 0x00, 0x90);
  fc.assert(
    fc.property(first, fc.uint8Array({ maxLength: 120 }), (start, rest) => {
      const bytes = Uint8Array.from([start, ...rest]);
      const packet = parsed(bytes);
      if (packet === undefined) return;
      expect(packet.byteCount).toBeLessThanOrEqual(bytes.length);
      expect(packet.l4At).toBeLessThanOrEqual(packet.byteCount);
    }),
    { numRuns: 2000 },
  );
});

test("a packet that is cut off is none", () => {
  for (const source of ["10.0.0.1", "fd00::1"]) {
    const bytes = packetOf({ ...SYN, source, destination: source });
    for (let length = 0; length < bytes.length; length += 1) {
      expect(parsed(bytes.subarray(0, length))).toBeUndefined();
    }
    expect(parsed(bytes)).toBeDefined();
  }
});

test("fragments of IPv4: the first has ports, later ones have none", () => {
  const bytes = packetOf({ ...SYN, protocol: "udp", sourcePort: 7, payload: Buffer.alloc(64) });
  expect(parsed(bytes)).toMatchObject({ fragment: NOT_A_FRAGMENT, ports: 7 << 16 });
  bytes.writeUInt16BE(0x2000, 6);
  expect(parsed(bytes)).toMatchObject({ fragment: FIRST_FRAGMENT, ports: 7 << 16 });
  bytes.writeUInt16BE(0x0004, 6);
  expect(parsed(bytes)).toMatchObject({ fragment: LATER_FRAGMENT, hasPorts: false, ports: 0 });
});

test("extension headers of IPv6 are skipped, and a fragment header is read", () => {
  const plain = packetOf({ source: "fd00::1", destination: "fd00::2", protocol: "udp" });
  const withHeaders = (...headers: readonly (readonly number[])[]): Buffer => {
    const extensions = Buffer.from(headers.flat());
    const bytes = Buffer.concat([plain.subarray(0, 40), extensions, plain.subarray(40)]);
    bytes.writeUInt16BE(bytes.length - 40, 4);
    bytes[6] = 60;
    return bytes;
  };
  const options = [44, 0, 0, 0, 0, 0, 0, 0];
  const first = parsed(withHeaders(options, [17, 0, 0, 1, 0, 0, 0, 9]));
  expect(first).toMatchObject({ fragment: FIRST_FRAGMENT, fragmentId: 9, protocol: 17, l4At: 56 });
  const later = parsed(withHeaders(options, [17, 0, 1, 0, 0, 0, 0, 9]));
  expect(later).toMatchObject({ fragment: LATER_FRAGMENT, fragmentId: 9, hasPorts: false });
});

test.each(["10.0.0.1", "fd00::1:2"])("words of %s and back", (ip) => {
  expect(ipOfWords(wordsOfIp(ip))).toBe(ip);
});

test.each([
  ["at an even place", [2, 4, 0x05, 0xb4]],
  ["at an odd place", [1, 2, 4, 0x05, 0xb4, 1, 1, 1]],
])("the MSS of a SYN is lowered, %s", (_name, tcpOptions) => {
  const bytes = packetOf({ ...SYN, tcpOptions });
  const packet = parsed(bytes);
  if (packet === undefined) throw new Error("no packet");
  clampMss(viewOf(bytes), 0, packet, 1400, false);
  const at = 40 + tcpOptions.indexOf(2) + 2;
  expect(bytes.readUInt16BE(at)).toBe(1360);
  expect(hasRightChecksums(bytes)).toBe(true);
  clampMss(viewOf(bytes), 0, packet, 9000, false);
  expect(bytes.readUInt16BE(at)).toBe(1360);
});

test("broken options are left alone", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 40, maxLength: 40 }), (options) => {
      const bytes = packetOf({ ...SYN, tcpOptions: [...options] });
      const packet = parsed(bytes);
      if (packet === undefined) throw new Error("no packet");
      clampMss(viewOf(bytes), 0, packet, 1280, false);
      expect(hasRightChecksums(bytes)).toBe(true);
    }),
  );
});

test.each([
  ["10.0.0.1", "10.30.0.1", 576],
  ["fd00::1", "fd00::2", 1280],
])("a message that a packet of %s is too big", (source, destination, longest) => {
  const bytes = packetOf({ source, destination, protocol: "udp", payload: Buffer.alloc(1400) });
  const packet = parsed(bytes);
  if (packet === undefined) throw new Error("no packet");
  const out = Buffer.alloc(1500, 0xa5);
  const length = writeTooBig(viewOf(bytes), 0, packet, 1300, { view: viewOf(out), at: 0 });
  const message = out.subarray(0, length);
  expect(length).toBe(longest);
  expect(hasRightChecksums(message)).toBe(true);
  const isV6 = source.includes(":");
  const icmp = isV6 ? 40 : 20;
  expect([...message.subarray(icmp, icmp + 2)]).toEqual(isV6 ? [2, 0] : [3, 4]);
  expect(message.readUInt16BE(icmp + 6)).toBe(1300);
  expect(message.subarray(icmp + 8)).toEqual(bytes.subarray(0, length - icmp - 8));
  expect(parsed(message)).toMatchObject({ protocol: isV6 ? 58 : 1, hasPorts: false });
  expect(mayBeFragmented(viewOf(bytes), 0, packet)).toBe(!isV6);
});
