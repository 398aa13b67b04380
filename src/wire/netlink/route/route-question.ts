import { AttributeCursor } from "../attribute-cursor.ts";
import { AF_INET } from "../ipvs/ipvs-words.ts";
import { NLM_F_REQUEST } from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import {
  RTA_DST,
  RTA_OIF,
  RTA_PREFSRC,
  RTA_SRC,
  RTM_GETROUTE,
  RTMSG_BYTES,
  RTMSG_TYPE_AT,
  RTN_UNICAST,
} from "./route-words.ts";

/** Which way packets to an address of IPv4 take. */
export interface WayTo {
  /** Number of the link. */
  readonly link: number;
  /** What the machine sends from, as a number; 0 where nothing was said. */
  readonly source: number;
}

const WHOLE_ADDRESS = 32;

/** Asks for the way to `destination`, from `source` where that is not 0: both as numbers. */
export function writeWayQuestion(
  writer: NetlinkWriter,
  sequence: number,
  destination: number,
  source: number,
): void {
  const header = new Uint8Array(RTMSG_BYTES);
  header.set([AF_INET, WHOLE_ADDRESS, source === 0 ? 0 : WHOLE_ADDRESS]);
  writer.message({ type: RTM_GETROUTE, flags: NLM_F_REQUEST, sequence }, () => {
    writer.header(header);
    writer.be32(RTA_DST, destination);
    if (source !== 0) writer.be32(RTA_SRC, source);
  });
}

/** Undefined where it leads to nobody else: to this machine, or nowhere. */
export function parseWay(view: DataView, from: number, to: number): WayTo | undefined {
  if (view.getUint8(from + RTMSG_TYPE_AT) !== RTN_UNICAST) return undefined;
  const cursor = new AttributeCursor();
  cursor.enter(view, from + RTMSG_BYTES, to);
  let [link, source] = [0, 0];
  while (cursor.next()) {
    if (cursor.type === RTA_OIF) link = cursor.u32();
    else if (cursor.type === RTA_PREFSRC) source = cursor.be32();
  }
  return link === 0 ? undefined : { link, source };
}
