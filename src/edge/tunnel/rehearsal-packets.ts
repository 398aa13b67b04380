import { VNET_BYTES } from "../../platform/linux/tun-device.ts";
import {
  ICMP_ECHO,
  ICMP_ECHO_REPLY,
  ICMP6_ECHO,
  ICMP6_ECHO_REPLY,
  PROTOCOL_ICMP,
  PROTOCOL_ICMP6,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
  TCP_ACK,
  TCP_DATA_OFFSET,
  TCP_FLAGS,
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
import { writeIp } from "../../wire/ip-bytes.ts";

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

const L4_BYTES = 64;
const PORT = 7;
const V4_VERSION_AND_LENGTH = 0x45;
const V6_VERSION = 0x60;
const TCP_NO_OPTIONS = 0x50;

/** One of each protocol that is translated. Their checksums are wrong: nobody looks. */
export function rehearsalExchanges(ends: RehearsalEnds): readonly RehearsalExchange[] {
  const { client, service, server } = ends;
  const isV6 = client.includes(":");
  const protocols = [PROTOCOL_UDP, PROTOCOL_TCP, isV6 ? PROTOCOL_ICMP6 : PROTOCOL_ICMP];
  return protocols.map((protocol) => ({
    question: packetOf(protocol, client, service, false),
    answer: packetOf(protocol, server, client, true),
  }));
}

function packetOf(protocol: number, from: string, to: string, isAnswer: boolean): Uint8Array {
  const isV6 = from.includes(":");
  const headerBytes = isV6 ? V6_HEADER_BYTES : V4_HEADER_BYTES;
  const bytes = new Uint8Array(VNET_BYTES + headerBytes + L4_BYTES);
  const packet = bytes.subarray(VNET_BYTES);
  const view = new DataView(packet.buffer, packet.byteOffset);
  view.setUint8(0, isV6 ? V6_VERSION : V4_VERSION_AND_LENGTH);
  view.setUint8(isV6 ? V6_NEXT : V4_PROTOCOL, protocol);
  if (isV6) view.setUint16(V6_LENGTH, L4_BYTES);
  else view.setUint16(V4_LENGTH, packet.length);
  writeIp(from, packet, isV6 ? V6_SOURCE : V4_SOURCE);
  writeIp(to, packet, isV6 ? V6_DESTINATION : V4_DESTINATION);
  putL4(view, headerBytes, protocol, isAnswer);
  return bytes;
}

function putL4(view: DataView, at: number, protocol: number, isAnswer: boolean): void {
  if (protocol === PROTOCOL_ICMP) view.setUint8(at, isAnswer ? ICMP_ECHO_REPLY : ICMP_ECHO);
  else if (protocol === PROTOCOL_ICMP6) view.setUint8(at, isAnswer ? ICMP6_ECHO_REPLY : ICMP6_ECHO);
  else {
    view.setUint16(at, PORT);
    view.setUint16(at + 2, PORT);
    if (protocol === PROTOCOL_UDP) view.setUint16(at + UDP_LENGTH, L4_BYTES);
    else {
      view.setUint8(at + TCP_DATA_OFFSET, TCP_NO_OPTIONS);
      view.setUint8(at + TCP_FLAGS, TCP_ACK);
    }
  }
}
