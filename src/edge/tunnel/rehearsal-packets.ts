import { VNET_BYTES } from "../../platform/linux/tun-device.ts";
import {
  ICMP_ECHO,
  ICMP_ECHO_REPLY,
  ICMP_ID,
  ICMP6_ECHO,
  ICMP6_ECHO_REPLY,
  PROTOCOL_ICMP,
  PROTOCOL_ICMP6,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
  TCP_ACK,
  TCP_DATA_OFFSET,
  TCP_FIN,
  TCP_FLAGS,
  TCP_HEADER_BYTES,
  TCP_PSH,
  TCP_SYN,
  UDP_LENGTH,
  V4_DESTINATION,
  V4_HEADER_BYTES,
  V4_LENGTH,
  V4_PROTOCOL,
  V4_SOURCE,
  V6_DESTINATION,
  V6_HEADER_BYTES,
  V6_LENGTH,
  V6_NEXT,
  V6_SOURCE,
} from "../../wire/ip/ip-numbers.ts";
import { IpPacket } from "../../wire/ip/ip-packet.ts";
import { writeIp } from "../../wire/ip-bytes.ts";
import { putPartialVirtio } from "./virtio-header.ts";

/** A question and its answer, each with a virtio header before it. */
export interface RehearsalExchange {
  readonly question: Uint8Array;
  readonly answer: Uint8Array;
}

export interface RehearsalEnds {
  readonly client: string;
  readonly service: string;
  readonly server: string;
}

/** What is asked. */
interface Kind {
  readonly protocol: "tcp" | "udp" | "echo";
  readonly tcpFlags?: number;
  /** The checksum is not finished: the device would do that. */
  readonly isPartial?: boolean;
  /** A super-packet, to be cut every so many bytes. */
  readonly gsoSize?: number;
}

const KINDS: readonly Kind[] = [
  { protocol: "udp" },
  { protocol: "echo" },
  { protocol: "tcp", tcpFlags: TCP_SYN, isPartial: true },
  { protocol: "tcp", tcpFlags: TCP_ACK },
  { protocol: "tcp", tcpFlags: TCP_ACK | TCP_PSH, isPartial: true, gsoSize: 100 },
  { protocol: "udp", isPartial: true },
  { protocol: "echo" },
  { protocol: "tcp", tcpFlags: TCP_ACK | TCP_FIN, isPartial: true },
];

const ECHO_TYPES = {
  v4: { question: ICMP_ECHO, answer: ICMP_ECHO_REPLY },
  v6: { question: ICMP6_ECHO, answer: ICMP6_ECHO_REPLY },
} as const;
const L4_BYTES = 64;
const SUPER_L4_BYTES = 350;
const PORT = 7;
const FIRST_PORT = 1024;
const PORTS = 512;
const V4_VERSION_AND_LENGTH = 0x45;
const V6_VERSION = 0x60;
const TCP_NO_OPTIONS = 0x50;
const TCP_ONE_OPTION = 0x60;
/** RFC 9293, 3.2: a segment may have 9000 bytes. */
const MSS_9000 = 0x0204_2328;

/** One of each kind, of a client that has another port in each turn. Their checksums are wrong: nobody looks. */
export function rehearsalExchanges(
  { client, service, server }: RehearsalEnds,
  turn: number,
): readonly RehearsalExchange[] {
  const port = FIRST_PORT + (turn % PORTS);
  return KINDS.map((kind) => ({
    question: packetOf(kind, { from: client, to: service, ports: [port, PORT] }, false),
    answer: packetOf(kind, { from: server, to: client, ports: [PORT, port] }, true),
  }));
}

interface Ends {
  readonly from: string;
  readonly to: string;
  readonly ports: readonly [number, number];
}

function packetOf(kind: Kind, { from, to, ports }: Ends, isAnswer: boolean): Uint8Array {
  const isV6 = from.includes(":");
  const headerBytes = isV6 ? V6_HEADER_BYTES : V4_HEADER_BYTES;
  const l4Bytes = kind.gsoSize === undefined ? L4_BYTES : SUPER_L4_BYTES;
  const bytes = new Uint8Array(VNET_BYTES + headerBytes + l4Bytes);
  const packet = bytes.subarray(VNET_BYTES);
  const view = new DataView(packet.buffer, packet.byteOffset);
  view.setUint8(0, isV6 ? V6_VERSION : V4_VERSION_AND_LENGTH);
  view.setUint8(isV6 ? V6_NEXT : V4_PROTOCOL, protocolOf(kind, isV6));
  if (isV6) view.setUint16(V6_LENGTH, l4Bytes);
  else view.setUint16(V4_LENGTH, packet.length);
  writeIp(from, packet, isV6 ? V6_SOURCE : V4_SOURCE);
  writeIp(to, packet, isV6 ? V6_DESTINATION : V4_DESTINATION);
  putL4(view, headerBytes, kind, ports, l4Bytes);
  if (kind.protocol === "echo") {
    const type = isV6 ? ECHO_TYPES.v6 : ECHO_TYPES.v4;
    view.setUint8(headerBytes, isAnswer ? type.answer : type.question);
    view.setUint16(headerBytes + ICMP_ID, Math.max(...ports));
  }
  if (kind.isPartial === true) putVirtio(bytes, view, kind, headerBytes);
  return bytes;
}

function protocolOf({ protocol }: Kind, isV6: boolean): number {
  if (protocol === "echo") return isV6 ? PROTOCOL_ICMP6 : PROTOCOL_ICMP;
  return protocol === "udp" ? PROTOCOL_UDP : PROTOCOL_TCP;
}

function putL4(
  view: DataView,
  at: number,
  kind: Kind,
  ports: readonly [number, number],
  l4Bytes: number,
): void {
  if (kind.protocol === "echo") return;
  view.setUint16(at, ports[0]);
  view.setUint16(at + 2, ports[1]);
  if (kind.protocol === "udp") view.setUint16(at + UDP_LENGTH, l4Bytes);
  else {
    const isSyn = kind.tcpFlags === TCP_SYN;
    view.setUint8(at + TCP_DATA_OFFSET, isSyn ? TCP_ONE_OPTION : TCP_NO_OPTIONS);
    view.setUint8(at + TCP_FLAGS, kind.tcpFlags ?? TCP_ACK);
    if (isSyn) view.setUint32(at + TCP_HEADER_BYTES, MSS_9000);
  }
}

function putVirtio(bytes: Uint8Array, view: DataView, kind: Kind, headerBytes: number): void {
  const packet = new IpPacket();
  const byteCount = bytes.length - VNET_BYTES;
  if (!packet.parse(view, 0, byteCount)) return;
  const virtio = new DataView(bytes.buffer);
  const { gsoSize = 0 } = kind;
  putPartialVirtio(virtio, 0, packet, headerBytes + TCP_HEADER_BYTES, gsoSize);
}
