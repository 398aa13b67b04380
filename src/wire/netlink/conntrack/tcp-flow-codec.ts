import { familyOf } from "../../../core/model/address.ts";
import { AttributeCursor } from "../attribute-cursor.ts";
import { NLM_F_ACK, NLM_F_REQUEST } from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import {
  CT_GET,
  CT_NEW,
  CTA_HELP,
  CTA_PROTOINFO,
  CTA_PROTOINFO_TCP,
  CTA_PROTOINFO_TCP_FLAGS_ORIGINAL,
  CTA_PROTOINFO_TCP_FLAGS_REPLY,
  CTA_PROTOINFO_TCP_STATE,
  CTA_SEQ_ADJ_ORIG,
  CTA_SEQ_ADJ_REPLY,
  CTA_STATUS,
  CTA_TIMEOUT,
  IPS_ASSURED,
  IPS_DST_NAT,
  IPS_SRC_NAT,
  NFGENMSG_BYTES,
} from "./conntrack-words.ts";
import { writeFlowName } from "./encode-requests.ts";
import type { FlowTuple } from "./flow.ts";
import { FlowDecoder } from "./flow-decoder.ts";
import type { TcpFlow, TcpFlowChange } from "./tcp-flow.ts";

/** Asks for the flow that has this tuple as one of its directions. */
export function writeTcpQuestion(
  writer: NetlinkWriter,
  sequence: number,
  tuple: FlowTuple,
  wantsAck = true,
): void {
  writer.message({ type: CT_GET, flags: flagsOf(wantsAck), sequence }, () => {
    writeFlowName(writer, "TCP", tuple);
  });
}

/** Changes a flow that is there; where there is none, none comes to be. */
export function writeTcpChange(
  writer: NetlinkWriter,
  sequence: number,
  { tuple, set, clear, timeoutS }: TcpFlowChange,
  wantsAck = true,
): void {
  const flags = [set, set | clear];
  writer.message({ type: CT_NEW, flags: flagsOf(wantsAck), sequence }, () => {
    writeFlowName(writer, "TCP", tuple);
    writer.nested(CTA_PROTOINFO, () => {
      writer.nested(CTA_PROTOINFO_TCP, () => {
        writer.bytes(CTA_PROTOINFO_TCP_FLAGS_ORIGINAL, flags);
        writer.bytes(CTA_PROTOINFO_TCP_FLAGS_REPLY, flags);
      });
    });
    if (timeoutS !== undefined) writer.be32(CTA_TIMEOUT, timeoutS);
  });
}

function flagsOf(wantsAck: boolean): number {
  return NLM_F_REQUEST | (wantsAck ? NLM_F_ACK : 0);
}

const TUPLES = new FlowDecoder((protocol) => protocol === "TCP");
/** One a level of nesting; nothing of them is kept from one message to the next. */
const OUTER = new AttributeCursor();
const MIDDLE = new AttributeCursor();
const INNER = new AttributeCursor();

/**
 * The flow of a message, from behind its header on; undefined where it is not TCP, or of a zone other
 * than the default one.
 */
export function parseTcpFlow(view: DataView, from: number, to: number): TcpFlow | undefined {
  const flow = TUPLES.decode(view, from, to);
  if (flow === undefined) return undefined;
  let [status, timeoutS, hasHelper, adjustsSequences] = [0, 0, false, false];
  let progress: Progress = UNKNOWN;
  OUTER.enter(view, from + NFGENMSG_BYTES, to);
  while (OUTER.next()) {
    switch (OUTER.type) {
      case CTA_STATUS:
        status = OUTER.be32();
        break;
      case CTA_TIMEOUT:
        timeoutS = OUTER.be32();
        break;
      case CTA_HELP:
        hasHelper = true;
        break;
      case CTA_SEQ_ADJ_ORIG:
      case CTA_SEQ_ADJ_REPLY:
        adjustsSequences = true;
        break;
      case CTA_PROTOINFO:
        OUTER.into(MIDDLE);
        progress = readProgress();
        break;
    }
  }
  const { original, reply, id } = flow;
  return {
    family: familyOf(original.dst),
    original,
    reply,
    id,
    isAssured: (status & IPS_ASSURED) !== 0,
    isTranslated: (status & (IPS_SRC_NAT | IPS_DST_NAT)) !== 0,
    hasHelper,
    adjustsSequences,
    timeoutS,
    ...progress,
  };
}

type Progress = Pick<TcpFlow, "state" | "flags">;

const UNKNOWN: Progress = { state: 0, flags: { original: 0, reply: 0 } };

/** From where MIDDLE stands. */
function readProgress(): Progress {
  let [state, original, reply] = [0, 0, 0];
  while (MIDDLE.next()) {
    if (MIDDLE.type !== CTA_PROTOINFO_TCP) continue;
    MIDDLE.into(INNER);
    while (INNER.next()) {
      if (INNER.type === CTA_PROTOINFO_TCP_STATE) state = INNER.u8();
      // The flags are the first byte; the kernel tells no mask.
      if (INNER.type === CTA_PROTOINFO_TCP_FLAGS_ORIGINAL) original = INNER.u8();
      if (INNER.type === CTA_PROTOINFO_TCP_FLAGS_REPLY) reply = INNER.u8();
    }
  }
  return { state, flags: { original, reply } };
}
