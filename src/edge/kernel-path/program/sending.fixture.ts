/** Packets of workloads, and how they leave. */
import { expect } from "vitest";
import { VERDICT } from "../../../platform/linux/bpf/bpf-numbers.ts";
import { adjusted, checksumOf, sumOf, wordDelta } from "../../../wire/ip/checksum.ts";
import {
  PROTOCOL_ICMP,
  PROTOCOL_ICMP6,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
  TCP_ACK,
} from "../../../wire/ip/ip-numbers.ts";
import { type PacketSpec, packetOf, viewOf } from "../../../wire/ip/packets.fixture.ts";
import { MODE_SECURE } from "../layout.ts";
import type { FilledMaps, FlowState } from "./kernel-path-maps.fixture.ts";
import type { Ends } from "./map-entries.fixture.ts";
import { LoadedProgram, PLACE, payloadOf, textIn } from "./programs.fixture.ts";
import { assembleSending } from "./sending.ts";

/**
 * A test run takes the first 14 bytes for a header of Ethernet, and the type of what follows from the last two of these.
 * So the packet itself is given, with a source whose bytes there are that type. It has to be 14 bytes longer
 * than the shortest one for that.
 */
export const FAMILIES = {
  v4: { client: "8.0.0.2", service: "10.30.0.1", server: "10.18.2.2", shortest: 42 },
  v6: { client: "fc00:1:86dd::2", service: "fdff::1", server: "fc00:2::2", shortest: 62 },
} as const;
export type Family = keyof typeof FAMILIES;

export type Protocol = PacketSpec["protocol"];

export const PROTOCOLS: Readonly<Record<Protocol, Readonly<Record<Family, number>>>> = {
  tcp: { v4: PROTOCOL_TCP, v6: PROTOCOL_TCP },
  udp: { v4: PROTOCOL_UDP, v6: PROTOCOL_UDP },
  echo: { v4: PROTOCOL_ICMP, v6: PROTOCOL_ICMP6 },
  "echo-reply": { v4: PROTOCOL_ICMP, v6: PROTOCOL_ICMP6 },
};

export const KINDS: readonly (readonly [Protocol, Family])[] = [
  ["tcp", "v4"],
  ["udp", "v4"],
  ["echo", "v4"],
  ["echo-reply", "v4"],
  ["tcp", "v6"],
  ["udp", "v6"],
  ["echo", "v6"],
  ["echo-reply", "v6"],
];

/** The ends of a packet before and behind the translation, as flows have them. */
function endsOf(protocol: Protocol, family: Family): { asked: Ends; sent: Ends } {
  const { client, service, server } = FAMILIES[family];
  const ports = {
    tcp: [40_000, 80, 41_000, 8080],
    udp: [40_000, 80, 41_000, 8080],
    echo: [77, 0, 1077, 0],
    "echo-reply": [0, 77, 0, 1077],
  } as const;
  const [from, to, sentFrom, sentTo] = ports[protocol];
  return {
    asked: { source: client, destination: service, sourcePort: from, destinationPort: to },
    sent: { source: client, destination: server, sourcePort: sentFrom, destinationPort: sentTo },
  };
}

export function packetWith(
  protocol: Protocol,
  ends: Ends,
  byteCount: number,
  more: Partial<PacketSpec> = {},
): Buffer {
  const isEcho = protocol === "echo" || protocol === "echo-reply";
  const sourcePort = isEcho ? ends.sourcePort | ends.destinationPort : ends.sourcePort;
  const headerBytes = (ends.source.includes(":") ? 40 : 20) + (protocol === "tcp" ? 20 : 8);
  const payload = payloadOf(byteCount - headerBytes);
  return packetOf({ ...ends, protocol, sourcePort, tcpFlags: TCP_ACK, payload, ...more });
}

export const OPEN: FlowState = { isBack: false, isOpen: true, place: PLACE };

export interface Prepared {
  readonly maps: FilledMaps;
  /** Of the protocol. */
  readonly number: number;
  readonly asked: Ends;
  readonly sent: Ends;
}

/** The program, with one flow that is open. */
export class Sending implements Prepared {
  readonly number: number;
  readonly asked: Ends;
  readonly sent: Ends;
  readonly #program: LoadedProgram;

  constructor(protocol: Protocol, family: Family, mode: number = MODE_SECURE) {
    this.#program = new LoadedProgram(assembleSending, mode);
    const { asked, sent } = endsOf(protocol, family);
    this.asked = asked;
    this.sent = sent;
    this.number = PROTOCOLS[protocol][family];
    this.maps.addFlow(this.number, asked, sent, OPEN);
  }

  get maps(): FilledMaps {
    return this.#program.maps;
  }

  /** What a packet is sent as; undefined where it is left to the tunnel, as it is. */
  send(packet: Buffer, gsoBytes = 0): ReturnType<typeof textIn> | undefined {
    const { returned, output } = this.#program.run(packet, gsoBytes);
    if (returned === VERDICT.next) {
      expect(output.toString("hex")).toBe(packet.toString("hex"));
      return undefined;
    }
    expect(returned).toBe(VERDICT.redirect);
    expect(output.toString("hex", 0, 42)).toBe(headersOf(output.length).toString("hex"));
    return textIn(output.subarray(42));
  }

  close(): void {
    this.#program.close();
  }
}

/** Ethernet, IPv4 and UDP, as they are around a datagram to the peer. */
function headersOf(frameBytes: number): Buffer {
  const headers = Buffer.alloc(42);
  headers.writeUInt16BE(0x0800, 12);
  headers.write("450000000000400040110000c0a80102c0a80202", 14, "hex");
  headers.writeUInt16BE(frameBytes - 14, 16);
  headers.writeUInt16BE(checksumOf(sumOf(viewOf(headers), 14, 20)), 24);
  headers.writeUInt16BE(50_103, 34);
  headers.writeUInt16BE(50_103, 36);
  headers.writeUInt16BE(frameBytes - 34, 38);
  return headers;
}

/** The same with the checksum of TCP, UDP or ICMP at `checksumAt` set right again. */
export function changedRightly(
  packet: Buffer,
  at: number,
  bits: number,
  checksumAt: number,
): Buffer {
  const word = at & ~1;
  const before = packet.readUInt16BE(word);
  changed(packet, at, bits);
  const delta = wordDelta(before, packet.readUInt16BE(word));
  packet.writeUInt16BE(adjusted(packet.readUInt16BE(checksumAt), delta), checksumAt);
  return packet;
}

export function changed(packet: Buffer, at: number, bits = 0x01): Buffer {
  packet.writeUInt8(packet.readUInt8(at) ^ bits, at);
  return packet;
}
