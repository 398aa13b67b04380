import { V4_BYTES, writeIp } from "../ip-bytes.ts";
import { checksumOf, sumOf } from "./checksum.ts";
import {
  ICMP_CHECKSUM,
  PROTOCOL_ICMP,
  PROTOCOL_ICMP6,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
  TCP_CHECKSUM,
  UDP_CHECKSUM,
} from "./ip-numbers.ts";

export interface PacketSpec {
  readonly source: string;
  readonly destination: string;
  readonly protocol: "tcp" | "udp" | "echo" | "echo-reply";
  /** Of an echo: the identifier. */
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly tcpFlags?: number;
  readonly tcpOptions?: readonly number[];
  readonly payload?: Uint8Array;
}

const SYN = 0x02;

/** A whole packet with right checksums, written by rules of its own. */
export function packetOf(spec: PacketSpec): Buffer {
  const room = Buffer.alloc(16);
  const isV6 = writeIp(spec.source, room, 0) !== V4_BYTES;
  const size = isV6 ? 16 : 4;
  const source = Buffer.from(room.subarray(0, size));
  writeIp(spec.destination, room, 0);
  const destination = Buffer.from(room.subarray(0, size));
  const { protocol, bytes: l4 } = l4Of(spec, isV6);
  const pseudo = Buffer.alloc(8);
  pseudo.writeUInt32BE(l4.length, 0);
  pseudo.writeUInt32BE(protocol, 4);
  const covered =
    protocol === PROTOCOL_ICMP ? l4 : Buffer.concat([source, destination, pseudo, l4]);
  const at = { [PROTOCOL_TCP]: TCP_CHECKSUM, [PROTOCOL_UDP]: UDP_CHECKSUM }[protocol];
  const checksum = checksumOf(sumOf(viewOf(covered), 0, covered.length));
  l4.writeUInt16BE(protocol === PROTOCOL_UDP ? checksum || 0xffff : checksum, at ?? ICMP_CHECKSUM);
  return Buffer.concat([
    isV6 ? v6Header(protocol, l4.length) : v4Header(protocol, l4.length, source, destination),
    ...(isV6 ? [source, destination] : []),
    l4,
  ]);
}

/** Whether all checksums of a packet without options and extensions are right. */
export function hasRightChecksums(packet: Buffer): boolean {
  const isV6 = (packet[0] ?? 0) >>> 4 === 6;
  const headerBytes = isV6 ? 40 : 20;
  const protocol = packet[isV6 ? 6 : 9] ?? 0;
  const l4 = packet.subarray(headerBytes);
  const pseudo = Buffer.alloc(8);
  pseudo.writeUInt32BE(l4.length, 0);
  pseudo.writeUInt32BE(protocol, 4);
  const addresses = isV6 ? packet.subarray(8, 40) : packet.subarray(12, 20);
  const covered = protocol === PROTOCOL_ICMP ? l4 : Buffer.concat([addresses, pseudo, l4]);
  const isRight = (bytes: Buffer) => checksumOf(sumOf(viewOf(bytes), 0, bytes.length)) === 0;
  const hasNone = protocol === PROTOCOL_UDP && l4.readUInt16BE(UDP_CHECKSUM) === 0;
  return (isV6 || isRight(packet.subarray(0, 20))) && (hasNone || isRight(Buffer.from(covered)));
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function l4Of(spec: PacketSpec, isV6: boolean): { protocol: number; bytes: Buffer } {
  const { payload = new Uint8Array(0), sourcePort = 0, destinationPort = 0 } = spec;
  switch (spec.protocol) {
    case "tcp": {
      const options = Buffer.from(spec.tcpOptions ?? []);
      const header = Buffer.alloc(20);
      header.writeUInt16BE(sourcePort, 0);
      header.writeUInt16BE(destinationPort, 2);
      header.writeUInt32BE(0x01020304, 4);
      header[12] = ((20 + options.length) / 4) << 4;
      header[13] = spec.tcpFlags ?? SYN;
      return { protocol: PROTOCOL_TCP, bytes: Buffer.concat([header, options, payload]) };
    }
    case "udp": {
      const header = Buffer.alloc(8);
      header.writeUInt16BE(sourcePort, 0);
      header.writeUInt16BE(destinationPort, 2);
      header.writeUInt16BE(8 + payload.length, 4);
      return { protocol: PROTOCOL_UDP, bytes: Buffer.concat([header, payload]) };
    }
    default: {
      const isReply = spec.protocol === "echo-reply";
      const header = Buffer.alloc(8);
      header[0] = isV6 ? 128 + Number(isReply) : isReply ? 0 : 8;
      header.writeUInt16BE(sourcePort, 4);
      const protocol = isV6 ? PROTOCOL_ICMP6 : PROTOCOL_ICMP;
      return { protocol, bytes: Buffer.concat([header, payload]) };
    }
  }
}

function v4Header(protocol: number, l4Bytes: number, source: Buffer, destination: Buffer): Buffer {
  const header = Buffer.alloc(20);
  header[0] = 0x45;
  header.writeUInt16BE(20 + l4Bytes, 2);
  header[8] = 64;
  header[9] = protocol;
  source.copy(header, 12);
  destination.copy(header, 16);
  header.writeUInt16BE(checksumOf(sumOf(viewOf(header), 0, 20)), 10);
  return header;
}

function v6Header(protocol: number, l4Bytes: number): Buffer {
  const header = Buffer.alloc(8);
  header[0] = 0x60;
  header.writeUInt16BE(l4Bytes, 4);
  header[6] = protocol;
  header[7] = 64;
  return header;
}
