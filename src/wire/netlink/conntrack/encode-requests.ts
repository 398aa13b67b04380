import { type Family, familyOf } from "../../../core/model/address.ts";
import type { Protocol } from "../../../core/model/common.ts";
import { V6_BYTES, writeIp } from "../../ip-bytes.ts";
import { NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST } from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import {
  CT_DELETE,
  CT_GET,
  CTA_FILTER,
  CTA_FILTER_ORIG_FLAGS,
  CTA_FILTER_REPLY_FLAGS,
  CTA_ID,
  CTA_IP_V4_DST,
  CTA_IP_V4_SRC,
  CTA_IP_V6_DST,
  CTA_IP_V6_SRC,
  CTA_PROTO_DST_PORT,
  CTA_PROTO_NUM,
  CTA_PROTO_SRC_PORT,
  CTA_TUPLE_IP,
  CTA_TUPLE_ORIG,
  CTA_TUPLE_PROTO,
  FILTER_DST_PORT,
  FILTER_IP_DST,
  FILTER_PROTO_NUM,
  NFPROTO_IPV4,
  NFPROTO_IPV6,
} from "./conntrack-words.ts";
import { type Flow, type FlowTuple, PROTOCOL_NUMBERS } from "./flow.ts";

/**
 * Which flows a dump is to give; what is missing is not asked about. Kernels before 5.8 do not know
 * filters and give everything: who reads compares again.
 */
export interface FlowFilter {
  readonly family: Family;
  readonly protocol: Protocol;
  /**
   * What the flow's first packet was sent to; IPv4 only. Asked for an IPv6 address, kernels give the
   * flows of all others (seen with 6.18).
   */
  readonly dst?: string;
  readonly dstPort?: number;
}

const FAMILY_NUMBERS: Readonly<Record<Family, number>> = { v4: NFPROTO_IPV4, v6: NFPROTO_IPV6 };

/** struct nfgenmsg. */
function writeFamily(writer: NetlinkWriter, family: Family): void {
  writer.header([FAMILY_NUMBERS[family], 0, 0, 0]);
}

/** Asks for all flows that the filter lets through. */
export function writeDump(writer: NetlinkWriter, sequence: number, filter: FlowFilter): void {
  const { family, protocol, dst, dstPort } = filter;
  const flags =
    FILTER_PROTO_NUM |
    (dst === undefined ? 0 : FILTER_IP_DST) |
    (dstPort === undefined ? 0 : FILTER_DST_PORT);
  writer.message({ type: CT_GET, flags: NLM_F_REQUEST | NLM_F_DUMP, sequence }, () => {
    writeFamily(writer, family);
    writer.nested(CTA_TUPLE_ORIG, () => {
      if (dst !== undefined) writer.nested(CTA_TUPLE_IP, () => writeAddress(writer, "dst", dst));
      writer.nested(CTA_TUPLE_PROTO, () => {
        writer.u8(CTA_PROTO_NUM, PROTOCOL_NUMBERS[protocol]);
        if (dstPort !== undefined) writer.be16(CTA_PROTO_DST_PORT, dstPort);
      });
    });
    writer.nested(CTA_FILTER, () => {
      writer.u32(CTA_FILTER_ORIG_FLAGS, flags);
      writer.u32(CTA_FILTER_REPLY_FLAGS, 0);
    });
  });
}

/** Removes a flow, and no later one that took its place. */
export function writeDelete(
  writer: NetlinkWriter,
  sequence: number,
  { protocol, original, id }: Flow,
  wantsAck: boolean,
): void {
  const flags = NLM_F_REQUEST | (wantsAck ? NLM_F_ACK : 0);
  writer.message({ type: CT_DELETE, flags, sequence }, () => {
    writeFlowName(writer, protocol, original);
    writer.be32(CTA_ID, id);
  });
}

/** What a message about one flow begins with; the kernel finds the flow by either direction of it. */
export function writeFlowName(writer: NetlinkWriter, protocol: Protocol, tuple: FlowTuple): void {
  writeFamily(writer, familyOf(tuple.dst));
  writer.nested(CTA_TUPLE_ORIG, () => {
    writer.nested(CTA_TUPLE_IP, () => {
      writeAddress(writer, "src", tuple.src);
      writeAddress(writer, "dst", tuple.dst);
    });
    writer.nested(CTA_TUPLE_PROTO, () => {
      writer.u8(CTA_PROTO_NUM, PROTOCOL_NUMBERS[protocol]);
      writer.be16(CTA_PROTO_SRC_PORT, tuple.srcPort);
      writer.be16(CTA_PROTO_DST_PORT, tuple.dstPort);
    });
  });
}

const scratch = new Uint8Array(V6_BYTES);

function writeAddress(writer: NetlinkWriter, end: "src" | "dst", ip: string): void {
  const v4 = end === "src" ? CTA_IP_V4_SRC : CTA_IP_V4_DST;
  const v6 = end === "src" ? CTA_IP_V6_SRC : CTA_IP_V6_DST;
  const byteCount = writeIp(ip, scratch, 0);
  writer.bytes(byteCount === V6_BYTES ? v6 : v4, scratch.subarray(0, byteCount));
}
