/** Connections that rules translate: as the programs write their directions, and as the kernel tracks them. */
import type { Family } from "../../../core/model/address.ts";
import { fold, sumOf } from "../../../wire/ip/checksum.ts";
import { viewOf } from "../../../wire/ip/packets.fixture.ts";
import { writeIp } from "../../../wire/ip-bytes.ts";
import type { FlowTuple } from "../../../wire/netlink/conntrack/flow.ts";
import { TCP_ESTABLISHED, type TcpFlow } from "../../../wire/netlink/conntrack/tcp-flow.ts";
import type { FastFlow } from "./fast-flow.ts";
import { KEY, VALUE } from "./layout.ts";

/** How a direction leaves, besides its ends. */
export interface Way {
  readonly link: number;
  /** Of the receiver and of the sender, as hexadecimal digits. */
  readonly macs: string;
  readonly mtu: number;
  readonly mark: number;
  readonly priority: number;
}

export const WAY: Way = {
  link: 1,
  macs: "02000000000b02000000000a",
  mtu: 1500,
  mark: 0x1234,
  priority: 6,
};
/** What clients come by, and what servers are behind. */
const CLIENT_LINK = 1;
const SERVER_LINK = 2;

const PLACES = {
  v4: { client: "10.1.0.2", service: "10.96.0.1", node: "192.168.7.9", server: "10.1.1.3" },
  v6: { client: "fd01::2", service: "fd96::1", node: "fd07::9", server: "fd01:1::3" },
} as const;

export interface Connection {
  /** Of what the client sends: as it comes, and as it leaves. */
  readonly asked: FlowTuple;
  readonly sent: FlowTuple;
  readonly asks: FastFlow;
  readonly answers: FastFlow;
  readonly tracked: TcpFlow;
}

/** One of a client to a service, which the rules lead to a server in the name of the node. */
export function connectionOf(family: Family, number = 0): Connection {
  const { client, service, node, server } = PLACES[family];
  const asked = { src: client, srcPort: 40_000 + number, dst: service, dstPort: 80 };
  const sent = { src: node, srcPort: 50_000 + number, dst: server, dstPort: 8080 };
  return {
    asked,
    sent,
    asks: fastFlowOf({ ...asked, link: CLIENT_LINK }, sent, { ...WAY, link: SERVER_LINK }),
    answers: fastFlowOf({ ...turned(sent), link: SERVER_LINK }, turned(asked), {
      ...WAY,
      link: CLIENT_LINK,
    }),
    tracked: {
      family,
      original: asked,
      reply: turned(sent),
      id: number + (family === "v4" ? 1 : 1_000_001),
      state: TCP_ESTABLISHED,
      isAssured: true,
      isTranslated: true,
      hasHelper: false,
      adjustsSequences: false,
      timeoutS: 300,
      flags: { original: 0, reply: 0 },
    },
  };
}

/** The other direction of the same. */
export function turned({ src, srcPort, dst, dstPort }: FlowTuple): FlowTuple {
  return { src: dst, srcPort: dstPort, dst: src, dstPort: srcPort };
}

/** The same as it comes and leaves by other links; its check is not that of it then. */
export function byLinks(flow: FastFlow, comesBy: number, leavesBy: number): FastFlow {
  const key = Buffer.from(flow.key);
  key.writeUInt32LE(comesBy, KEY.link);
  const value = Buffer.from(flow.value);
  value.writeUInt32LE(leavesBy, VALUE.link);
  return { ...flow, key, value };
}

/** As layout.ts says it, written by rules of its own. */
export function fastFlowOf(
  comes: FlowTuple & { readonly link: number },
  leaves: FlowTuple,
  way: Way = WAY,
): FastFlow {
  const before = addressesOf(comes);
  const after = addressesOf(leaves);
  const key = Buffer.concat([number(comes.link), portsOf(comes), before]);
  const rest = Buffer.concat([
    number(way.link),
    portsOf(leaves),
    number(differenceOf(before, after)),
    number(differenceOf(portsOf(comes), portsOf(leaves))),
    Buffer.from(way.macs, "hex"),
    number(way.mtu),
    number(way.mark),
    number(way.priority),
    after,
  ]);
  const value = Buffer.concat([checkOf(Buffer.concat([key, rest])), rest]);
  return { family: comes.src.includes(":") ? "v6" : "v4", key, value };
}

/** All words of eight bytes together. */
export function checkOf(bytes: Buffer): Buffer {
  const check = Buffer.alloc(8);
  for (const [at, byte] of bytes.entries()) check[at % 8] = (check[at % 8] ?? 0) ^ byte;
  return check;
}

/** What an exchange of bytes adds to a sum of words whose low byte is the first one. */
function differenceOf(before: Buffer, after: Buffer): number {
  const sum = (bytes: Buffer) => sumOf(viewOf(Buffer.from(bytes).swap16()), 0, bytes.length);
  return fold(sum(after) + (0xffff - fold(sum(before))));
}

function addressesOf({ src, dst }: FlowTuple): Buffer {
  return Buffer.concat(
    [src, dst].map((ip) => {
      const room = Buffer.alloc(16);
      return room.subarray(0, writeIp(ip, room, 0));
    }),
  );
}

function portsOf({ srcPort, dstPort }: FlowTuple): Buffer {
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(srcPort, 0);
  ports.writeUInt16BE(dstPort, 2);
  return ports;
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
