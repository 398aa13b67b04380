import { expect, test } from "vitest";
import { IpPacket } from "./ip-packet.ts";
import { hasRightChecksums, packetOf, viewOf } from "./packets.fixture.ts";
import { writeTcpReset } from "./tcp-reset.ts";

const [FIN, SYN, RST, ACK] = [0x01, 0x02, 0x04, 0x10];
const SEQUENCE = 0x01020304;

function resetOf(source: string, destination: string, tcpFlags: number, payload = 0): Buffer {
  const bytes = packetOf({
    source,
    destination,
    protocol: "tcp",
    sourcePort: 5,
    destinationPort: 80,
    tcpFlags,
    payload: Buffer.alloc(payload),
  });
  const packet = new IpPacket();
  packet.parse(viewOf(bytes), 0, bytes.length);
  const out = Buffer.alloc(100, 0xa5);
  return out.subarray(0, writeTcpReset(viewOf(bytes), 0, packet, { view: viewOf(out), at: 0 }));
}

test.each([
  ["10.18.0.2", "10.30.0.1", 20],
  ["fc00::2", "fdff::1", 40],
])("the reset of a connection of %s", (source, destination, tcp) => {
  const reset = resetOf(source, destination, SYN);
  expect(hasRightChecksums(reset)).toBe(true);
  expect(reset).toHaveLength(tcp + 20);
  expect(reset.readUInt16BE(tcp)).toBe(80);
  expect(reset.readUInt16BE(tcp + 2)).toBe(5);
  expect([reset[tcp + 13], reset.readUInt32BE(tcp + 4)]).toEqual([RST | ACK, 0]);
  expect(reset.readUInt32BE(tcp + 8)).toBe(SEQUENCE + 1);
  const late = resetOf(source, destination, FIN, 10);
  expect(late.readUInt32BE(tcp + 8)).toBe(SEQUENCE + 11);
  const middle = resetOf(source, destination, ACK, 10);
  expect([middle[tcp + 13], middle.readUInt32BE(tcp + 4)]).toEqual([RST, 0]);
  expect(resetOf(source, destination, RST)).toHaveLength(0);
});
