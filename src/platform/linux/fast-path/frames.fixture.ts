/** Frames of TCP, written by rules of their own. */
import type { Family } from "../../../core/model/address.ts";
import { checksumOf, pseudoHeaderSum, sumOf } from "../../../wire/ip/checksum.ts";
import {
  PROTOCOL_TCP,
  TCP_ACK,
  TCP_CHECKSUM,
  TCP_SEQUENCE,
  V4_CHECKSUM,
} from "../../../wire/ip/ip-numbers.ts";
import { packetOf, viewOf } from "../../../wire/ip/packets.fixture.ts";
import type { FlowTuple } from "../../../wire/netlink/conntrack/flow.ts";

export const ETHERNET_BYTES = 14;
/** Of the header of IP: where its fields are. */
export const IP: Readonly<Record<Family, IpPlaces>> = {
  v4: { bytes: 20, hops: 8, protocol: 9, addresses: 12, addressBytes: 8, type: 0x0800 },
  v6: { bytes: 40, hops: 7, protocol: 6, addresses: 8, addressBytes: 32, type: 0x86dd },
};
/** For the link that test runs take: it is for this machine. */
const MACS = "000000000000020304050607";
const ACKNOWLEDGED = 8;
const WINDOW = 14;

interface IpPlaces {
  readonly bytes: number;
  readonly hops: number;
  readonly protocol: number;
  readonly addresses: number;
  readonly addressBytes: number;
  readonly type: number;
}

export interface FrameSpec {
  /** Of the receiver and of the sender, as hexadecimal digits. */
  readonly macs?: string;
  readonly hops?: number;
  readonly kindOfService?: number;
  readonly sequence?: number;
  readonly acknowledged?: number;
  readonly window?: number;
  readonly flags?: number;
  readonly options?: readonly number[];
  readonly payloadBytes?: number;
}

export function frameOf(ends: FlowTuple, spec: FrameSpec = {}): Buffer {
  const family = ends.src.includes(":") ? "v6" : "v4";
  const { bytes, hops, type } = IP[family];
  const packet = packetOf({
    source: ends.src,
    destination: ends.dst,
    protocol: "tcp",
    sourcePort: ends.srcPort,
    destinationPort: ends.dstPort,
    tcpFlags: spec.flags ?? TCP_ACK,
    tcpOptions: spec.options ?? [],
    payload: Uint8Array.from({ length: spec.payloadBytes ?? 100 }, (_, index) => index * 37),
  });
  packet.writeUInt8(spec.hops ?? 64, hops);
  if (family === "v4") packet.writeUInt8(spec.kindOfService ?? 0, 1);
  else packet.writeUInt16BE(0x6000 | ((spec.kindOfService ?? 0) << 4), 0);
  packet.writeUInt32BE(spec.sequence ?? 0x0102_0304, bytes + TCP_SEQUENCE);
  packet.writeUInt32BE(spec.acknowledged ?? 0x0506_0708, bytes + ACKNOWLEDGED);
  packet.writeUInt16BE(spec.window ?? 0x1111, bytes + WINDOW);
  const ethernet = Buffer.alloc(ETHERNET_BYTES);
  ethernet.write(spec.macs ?? MACS, "hex");
  ethernet.writeUInt16BE(type, 12);
  return rectified(Buffer.concat([ethernet, packet]), family);
}

/** The same with all checksums right; changes its argument. */
export function rectified(frame: Buffer, family: Family): Buffer {
  const { bytes, addresses, addressBytes } = IP[family];
  const packet = frame.subarray(ETHERNET_BYTES);
  const view = viewOf(packet);
  if (family === "v4") {
    packet.writeUInt16BE(0, V4_CHECKSUM);
    packet.writeUInt16BE(checksumOf(sumOf(view, 0, bytes)), V4_CHECKSUM);
  }
  const tcpBytes = packet.length - bytes;
  packet.writeUInt16BE(0, bytes + TCP_CHECKSUM);
  const ip = { addresses, byteCount: addressBytes };
  const pseudo = pseudoHeaderSum(view, ip, PROTOCOL_TCP, tcpBytes);
  packet.writeUInt16BE(checksumOf(sumOf(view, bytes, tcpBytes, pseudo)), bytes + TCP_CHECKSUM);
  return frame;
}

/** The same with some bits of a byte turned; `at` is from the header of IP on. */
export function changed(frame: Buffer, at: number, bits: number): Buffer {
  const place = ETHERNET_BYTES + at;
  frame.writeUInt8(frame.readUInt8(place) ^ bits, place);
  return frame;
}
