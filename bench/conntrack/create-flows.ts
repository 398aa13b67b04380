import { NetlinkSocket, requestError } from "../../src/platform/linux/netlink/netlink-socket.ts";
import { writeIp } from "../../src/wire/ip-bytes.ts";
import type { NetlinkWriter } from "../../src/wire/netlink/netlink-writer.ts";

/** A UDP flow that was sent to a service and led to an endpoint. */
export interface MadeFlow {
  readonly src: string;
  readonly srcPort: number;
  readonly dst: string;
  readonly dstPort: number;
  readonly endpoint: string;
  readonly endpointPort: number;
  readonly protocol: "udp" | "tcp";
}

/** Numbers of linux/netlink.h and nfnetlink_conntrack.h that only making flows needs. */
const CT_NEW = 0x100;
const CREATE_FLAGS = 0x1 | 0x200 | 0x400;
const ACK = 0x4;
const [TUPLE_ORIG, TUPLE_REPLY, STATUS, PROTOINFO, TIMEOUT, NAT_DST] = [1, 2, 3, 4, 7, 13];
const CONFIRMED_AND_ANSWERED = 0x0e;
const TCP_ESTABLISHED = 3;
const TIMEOUT_SECONDS = 3600;
const NETLINK_NETFILTER = 12;
const BATCH = 128;
const PROTOCOL_NUMBERS = { udp: 17, tcp: 6 } as const;

/** Puts flows into the table of this network namespace, as packets would have. */
export async function createFlows(flows: readonly MadeFlow[]): Promise<void> {
  const socket = new NetlinkSocket(NETLINK_NETFILTER);
  try {
    for (let at = 0; at < flows.length; at += BATCH) {
      const batch = flows.slice(at, at + BATCH);
      const { failures } = await socket.exchange({
        count: batch.length,
        write: (writer, first) => {
          batch.forEach((flow, index) => {
            const flags = CREATE_FLAGS | (index === batch.length - 1 ? ACK : 0);
            const start = { type: CT_NEW, flags, sequence: first + index };
            writer.message(start, () => writeFlow(writer, flow));
          });
        },
      });
      const [failure] = failures;
      if (failure !== undefined) throw requestError("making a flow", failure);
    }
  } finally {
    socket.close();
  }
}

function writeFlow(writer: NetlinkWriter, flow: MadeFlow): void {
  const { src, srcPort, dst, dstPort, endpoint, endpointPort, protocol } = flow;
  writer.header([2, 0, 0, 0]);
  writeTuple(writer, TUPLE_ORIG, protocol, [src, srcPort], [dst, dstPort]);
  writeTuple(writer, TUPLE_REPLY, protocol, [dst, dstPort], [src, srcPort]);
  writer.be32(STATUS, CONFIRMED_AND_ANSWERED);
  writer.be32(TIMEOUT, TIMEOUT_SECONDS);
  if (protocol === "tcp") {
    writer.nested(PROTOINFO, () => writer.nested(1, () => writer.u8(1, TCP_ESTABLISHED)));
  }
  writer.nested(NAT_DST, () => {
    writer.bytes(1, bytesOf(endpoint));
    writer.nested(3, () => {
      writer.be16(1, endpointPort);
      writer.be16(2, endpointPort);
    });
  });
}

type End = readonly [ip: string, port: number];

function writeTuple(
  writer: NetlinkWriter,
  type: number,
  protocol: MadeFlow["protocol"],
  [src, srcPort]: End,
  [dst, dstPort]: End,
): void {
  writer.nested(type, () => {
    writer.nested(1, () => {
      writer.bytes(1, bytesOf(src));
      writer.bytes(2, bytesOf(dst));
    });
    writer.nested(2, () => {
      writer.u8(1, PROTOCOL_NUMBERS[protocol]);
      writer.be16(2, srcPort);
      writer.be16(3, dstPort);
    });
  });
}

function bytesOf(ip: string): Uint8Array {
  const bytes = new Uint8Array(16);
  return bytes.slice(0, writeIp(ip, bytes, 0));
}
