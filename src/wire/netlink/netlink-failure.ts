import { AttributeCursor } from "./attribute-cursor.ts";
import {
  HEADER_BYTES,
  NLM_F_ACK_TLVS,
  NLM_F_CAPPED,
  NLMSGERR_ATTR_MISS_TYPE,
  NLMSGERR_ATTR_MSG,
  NLMSGERR_ATTR_OFFS,
} from "./netlink-words.ts";

/** What the kernel says of a request that it did not do. */
export interface NetlinkFailure {
  /** Of the request. */
  readonly sequence: number;
  /** Positive. */
  readonly errno: number;
  /** In the kernel's words; empty where it says none. */
  readonly text: string;
  /** Where in the request the attribute stands that was refused. */
  readonly refusedAt: number | undefined;
  /** Type of an attribute that is missing. */
  readonly missingType: number | undefined;
}

/** A message of the kernel, as offsets into a datagram. */
export interface MessagePlace {
  readonly flags: number;
  readonly sequence: number;
  /** Where it stands behind its header. */
  readonly from: number;
  readonly to: number;
}

const DECODER = new TextDecoder();
const ERRNO_BYTES = 4;

/** Reads NLMSG_ERROR; undefined where it says that all went well. */
export function parseError(view: DataView, place: MessagePlace): NetlinkFailure | undefined {
  const { flags, from, to } = place;
  if (to - from < ERRNO_BYTES) return failureOf(place, 0, view, to);
  const errno = -view.getInt32(from, true);
  if (errno === 0) return undefined;
  const echoAt = from + ERRNO_BYTES;
  const isEchoed = (flags & NLM_F_CAPPED) === 0 && echoAt + HEADER_BYTES <= to;
  const echoBytes = isEchoed ? view.getUint32(echoAt, true) : HEADER_BYTES;
  return failureOf(place, errno, view, echoAt + echoBytes);
}

/** Reads NLMSG_DONE, which can end a dump with an error; undefined where it does not. */
export function parseDone(view: DataView, place: MessagePlace): NetlinkFailure | undefined {
  const { from, to } = place;
  const errno = to - from < ERRNO_BYTES ? 0 : -view.getInt32(from, true);
  return errno <= 0 ? undefined : failureOf(place, errno, view, from + ERRNO_BYTES);
}

function failureOf(
  { flags, sequence, to }: MessagePlace,
  errno: number,
  view: DataView,
  attributesAt: number,
): NetlinkFailure {
  let text = "";
  let refusedAt: number | undefined;
  let missingType: number | undefined;
  const cursor = new AttributeCursor();
  cursor.enter(view, attributesAt, (flags & NLM_F_ACK_TLVS) === 0 ? attributesAt : to);
  while (cursor.next()) {
    if (cursor.type === NLMSGERR_ATTR_MSG) text = textAt(view, cursor);
    if (cursor.type === NLMSGERR_ATTR_OFFS) refusedAt = cursor.u32();
    if (cursor.type === NLMSGERR_ATTR_MISS_TYPE) missingType = cursor.u32();
  }
  return { sequence, errno, text, refusedAt, missingType };
}

/** Without the zero byte at its end. */
function textAt(view: DataView, { at, length }: AttributeCursor): string {
  const bytes = new Uint8Array(view.buffer, view.byteOffset + at, length);
  const end = bytes.indexOf(0);
  return DECODER.decode(end < 0 ? bytes : bytes.subarray(0, end));
}
