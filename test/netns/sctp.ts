import type { SocketAddress } from "../../src/platform/socket-address.ts";

/** RFC 9260: as much of SCTP as shows where an association would begin. */
export interface SctpPacket {
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly kind: "init" | "init-ack";
  readonly initiateTag: number;
  /** Of an INIT ACK: the text in its state cookie. */
  readonly cookie: string;
}

const COMMON_HEADER_BYTES = 12;
const INIT_BYTES = 20;
const PARAMETER_HEADER_BYTES = 4;
const STATE_COOKIE = 7;
const CHECKSUM = 8;
const CHUNK_TYPES = { init: 1, "init-ack": 2 } as const;
const RECEIVER_WINDOW_BYTES = 65_536;
const BYTES_PER_WORD = 4;

/** @param verificationTag 0 in an INIT; in its answer the tag that the INIT gave */
export function renderSctp(packet: SctpPacket, verificationTag: number): Buffer {
  const cookie = Buffer.from(packet.cookie);
  const parameterBytes = cookie.length === 0 ? 0 : PARAMETER_HEADER_BYTES + cookie.length;
  const padding = -parameterBytes & 3;
  const bytes = Buffer.alloc(COMMON_HEADER_BYTES + INIT_BYTES + parameterBytes + padding);
  bytes.writeUInt16BE(packet.sourcePort, 0);
  bytes.writeUInt16BE(packet.destinationPort, 2);
  bytes.writeUInt32BE(verificationTag, 4);
  const chunk = bytes.subarray(COMMON_HEADER_BYTES);
  chunk.writeUInt8(CHUNK_TYPES[packet.kind], 0);
  chunk.writeUInt16BE(INIT_BYTES + parameterBytes, 2);
  chunk.writeUInt32BE(packet.initiateTag, 4);
  chunk.writeUInt32BE(RECEIVER_WINDOW_BYTES, 8);
  chunk.writeUInt16BE(1, 12);
  chunk.writeUInt16BE(1, 14);
  chunk.writeUInt32BE(1, 16);
  if (parameterBytes > 0) {
    chunk.writeUInt16BE(STATE_COOKIE, INIT_BYTES);
    chunk.writeUInt16BE(parameterBytes, INIT_BYTES + 2);
    cookie.copy(chunk, INIT_BYTES + PARAMETER_HEADER_BYTES);
  }
  bytes.writeUInt32LE(crc32c(bytes), CHECKSUM);
  return bytes;
}

/** What a raw socket received; undefined where it is none of the two kinds. */
export function parseSctp(
  received: Buffer,
  family: SocketAddress["family"],
): SctpPacket | undefined {
  const bytes = family === "v4" ? withoutIpHeader(received) : received;
  if (bytes.length < COMMON_HEADER_BYTES + INIT_BYTES) return undefined;
  const chunk = bytes.subarray(COMMON_HEADER_BYTES);
  const type = chunk.readUInt8(0);
  const kind = type === CHUNK_TYPES.init ? "init" : "init-ack";
  if (type !== CHUNK_TYPES[kind]) return undefined;
  return {
    sourcePort: bytes.readUInt16BE(0),
    destinationPort: bytes.readUInt16BE(2),
    kind,
    initiateTag: chunk.readUInt32BE(4),
    cookie: chunk
      .subarray(INIT_BYTES + PARAMETER_HEADER_BYTES, Math.max(chunk.readUInt16BE(2), INIT_BYTES))
      .toString(),
  };
}

/** Raw sockets of IPv4 give the header too, those of IPv6 do not. */
function withoutIpHeader(bytes: Buffer): Buffer {
  const words = bytes.readUInt8(0) & 15;
  return bytes.subarray(words * BYTES_PER_WORD);
}

const CRC32C_POLYNOMIAL = 0x82f6_3b78;

/** Over a packet whose checksum is still zero. */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc >>> 1) ^ (crc & 1 ? CRC32C_POLYNOMIAL : 0);
    }
  }
  return ~crc >>> 0;
}
