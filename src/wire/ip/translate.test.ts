import fc from "fast-check";
import { expect, test } from "vitest";
import { wordsOfIp } from "./address-words.ts";
import { IpPacket, swapPorts } from "./ip-packet.ts";
import { hasRightChecksums, type PacketSpec, packetOf, viewOf } from "./packets.fixture.ts";
import { Translation } from "./translate.ts";

const V4 = fc.ipV4();
const V6 = fc
  .array(fc.integer({ min: 1, max: 0xffff }), { minLength: 8, maxLength: 8 })
  .map((groups) => groups.map((group) => group.toString(16)).join(":"));
const PORT = fc.integer({ min: 0, max: 0xffff });

function specs(ip: fc.Arbitrary<string>): fc.Arbitrary<PacketSpec> {
  return fc.record({
    source: ip,
    destination: ip,
    protocol: fc.constantFrom("tcp", "udp", "echo", "echo-reply"),
    sourcePort: PORT,
    destinationPort: PORT,
    payload: fc.uint8Array({ maxLength: 40 }),
  });
}

function portsOf(spec: PacketSpec, sourcePort: number, destinationPort: number): number {
  if (spec.protocol === "echo") return sourcePort << 16;
  if (spec.protocol === "echo-reply") return sourcePort;
  return (sourcePort << 16) | destinationPort;
}

test.each([
  ["v4", V4],
  ["v6", V6],
])("a translated packet is the one that would have been sent: %s", (_name, ip) => {
  fc.assert(
    fc.property(specs(ip), ip, ip, PORT, PORT, (spec, source, destination, port, toPort) => {
      const bytes = packetOf(spec);
      const packet = new IpPacket();
      expect(packet.parse(viewOf(bytes), 0, bytes.length)).toBe(true);
      expect(packet.hasPorts).toBe(true);
      const from = {
        source: wordsOfIp(spec.source),
        destination: wordsOfIp(spec.destination),
        ports: portsOf(spec, spec.sourcePort ?? 0, spec.destinationPort ?? 0),
      };
      expect(packet.ports).toBe(from.ports);
      const ends = { source: wordsOfIp(source), destination: wordsOfIp(destination) };
      const ports = portsOf(spec, port, toPort);
      new Translation(from, { ...ends, ports }).apply(viewOf(bytes), 0, packet, false);
      expect(hasRightChecksums(bytes)).toBe(true);
      const other = { ...spec, source, destination, sourcePort: port, destinationPort: toPort };
      expect(withoutChecksums(bytes, spec)).toEqual(withoutChecksums(packetOf(other), spec));
    }),
  );
});

test("a partial checksum, which others complete, follows the addresses alone", () => {
  const bytes = packetOf({
    source: "10.0.0.1",
    destination: "10.30.0.1",
    protocol: "tcp",
    sourcePort: 1000,
    destinationPort: 80,
  });
  const view = viewOf(bytes);
  const packet = new IpPacket();
  packet.parse(view, 0, bytes.length);
  // The kernel writes the sum of the pseudo header, not inverted.
  view.setUint16(20 + 16, 0x0a00 + 0x0001 + 0x0a1e + 0x0001 + 6 + 20);
  const from = {
    source: wordsOfIp("10.0.0.1"),
    destination: wordsOfIp("10.30.0.1"),
    ports: packet.ports,
  };
  const to = { ...from, destination: wordsOfIp("10.18.0.2"), ports: (2000 << 16) | 80 };
  new Translation(from, to).apply(view, 0, packet, true);
  expect(view.getUint16(20 + 16)).toBe(0x0a00 + 0x0001 + 0x0a12 + 0x0002 + 6 + 20);
  expect(view.getUint16(20)).toBe(2000);
});

test("a UDP packet without a checksum stays without one", () => {
  const bytes = packetOf({ source: "10.0.0.1", destination: "10.0.0.2", protocol: "udp" });
  bytes.writeUInt16BE(0, 26);
  const packet = new IpPacket();
  packet.parse(viewOf(bytes), 0, bytes.length);
  const from = { source: wordsOfIp("10.0.0.1"), destination: wordsOfIp("10.0.0.2"), ports: 0 };
  const to = { ...from, destination: wordsOfIp("10.0.0.3") };
  new Translation(from, to).apply(viewOf(bytes), 0, packet, false);
  expect(bytes.readUInt16BE(26)).toBe(0);
});

test("ports seen from the other end", () => {
  fc.assert(fc.property(PORT, PORT, (a, b) => swapPorts((a << 16) | b) === ((b << 16) | a)));
});

/** Those of UDP have two forms of zero: they are compared by being right. */
function withoutChecksums(bytes: Buffer, { protocol }: PacketSpec): string {
  const copy = Buffer.from(bytes);
  const l4 = (copy[0] ?? 0) >>> 4 === 6 ? 40 : 20;
  const at = { tcp: 16, udp: 6, echo: 2, "echo-reply": 2 }[protocol];
  copy.writeUInt16BE(0, l4 + at);
  if (l4 === 20) copy.writeUInt16BE(0, 10);
  return copy.toString("hex");
}
