import { V6_BYTES, writeIp } from "../../ip-bytes.ts";
import { PROTOCOL_NUMBERS } from "../conntrack/flow.ts";
import { NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST } from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import {
  AF_INET,
  AF_INET6,
  IP_VS_CONN_F_MASQ,
  IPVS_CMD,
  IPVS_CMD_ATTR_DEST,
  IPVS_CMD_ATTR_SERVICE,
  IPVS_CMD_ATTR_TIMEOUT_TCP,
  IPVS_CMD_ATTR_TIMEOUT_TCP_FIN,
  IPVS_CMD_ATTR_TIMEOUT_UDP,
  IPVS_DEST_ATTR_ADDR,
  IPVS_DEST_ATTR_FWD_METHOD,
  IPVS_DEST_ATTR_L_THRESH,
  IPVS_DEST_ATTR_PORT,
  IPVS_DEST_ATTR_U_THRESH,
  IPVS_DEST_ATTR_WEIGHT,
  IPVS_SVC_ATTR_ADDR,
  IPVS_SVC_ATTR_AF,
  IPVS_SVC_ATTR_FLAGS,
  IPVS_SVC_ATTR_FWMARK,
  IPVS_SVC_ATTR_NETMASK,
  IPVS_SVC_ATTR_PORT,
  IPVS_SVC_ATTR_PROTOCOL,
  IPVS_SVC_ATTR_SCHED_NAME,
  IPVS_SVC_ATTR_TIMEOUT,
  IPVS_VERSION,
  WHOLE_MASKS,
} from "./ipvs-words.ts";
import type { Destination, IpvsTimeouts, VirtualServer } from "./virtual-server.ts";

/** A change of one thing. What is to be made must not be there, what is to be changed or go must be. */
export type IpvsChange =
  | { readonly kind: "newService" | "setService" | "deleteService"; readonly server: VirtualServer }
  | {
      readonly kind: "newDestination" | "setDestination" | "deleteDestination";
      readonly server: VirtualServer;
      readonly destination: Destination;
    }
  /** What is 0 stays as it is. */
  | { readonly kind: "setConfig"; readonly timeouts: IpvsTimeouts };

/** Where a message of the family stands. */
export interface IpvsMessageStart {
  /** The number that the kernel gave the family. */
  readonly familyId: number;
  readonly sequence: number;
  /** Whether the end of the batch is wanted to be told. */
  readonly isLast: boolean;
}

const EVERY_FLAG = 0xffff_ffff;

export function writeIpvsChange(
  writer: NetlinkWriter,
  { familyId, sequence, isLast }: IpvsMessageStart,
  change: IpvsChange,
): void {
  const flags = NLM_F_REQUEST | (isLast ? NLM_F_ACK : 0);
  writer.message({ type: familyId, flags, sequence }, () => {
    writer.header([IPVS_CMD[change.kind], IPVS_VERSION, 0, 0]);
    if (change.kind === "setConfig") {
      writeTimeouts(writer, change.timeouts);
      return;
    }
    const isWhole = change.kind === "newService" || change.kind === "setService";
    writer.nested(IPVS_CMD_ATTR_SERVICE, () => {
      writePlace(writer, change.server);
      if (isWhole) writeSettings(writer, change.server);
    });
    if (!("destination" in change)) return;
    writer.nested(IPVS_CMD_ATTR_DEST, () => {
      writeDestination(writer, change.destination, change.kind !== "deleteDestination");
    });
  });
}

/** Asks for all virtual servers. */
export function writeServerDump(writer: NetlinkWriter, familyId: number, sequence: number): void {
  writer.message({ type: familyId, flags: NLM_F_REQUEST | NLM_F_DUMP, sequence }, () => {
    writer.header([IPVS_CMD.getService, IPVS_VERSION, 0, 0]);
  });
}

/** Asks for all real servers of a virtual one. */
export function writeDestinationDump(
  writer: NetlinkWriter,
  familyId: number,
  sequence: number,
  server: Pick<VirtualServer, "family" | "place">,
): void {
  writer.message({ type: familyId, flags: NLM_F_REQUEST | NLM_F_DUMP, sequence }, () => {
    writer.header([IPVS_CMD.getDestination, IPVS_VERSION, 0, 0]);
    writer.nested(IPVS_CMD_ATTR_SERVICE, () => writePlace(writer, server));
  });
}

/** Asks how long connections are remembered. */
export function writeGetTimeouts(writer: NetlinkWriter, familyId: number, sequence: number): void {
  writer.message({ type: familyId, flags: NLM_F_REQUEST | NLM_F_ACK, sequence }, () => {
    writer.header([IPVS_CMD.getConfig, IPVS_VERSION, 0, 0]);
  });
}

function writePlace(
  writer: NetlinkWriter,
  { family, place }: Pick<VirtualServer, "family" | "place">,
): void {
  writer.u16(IPVS_SVC_ATTR_AF, family === "v4" ? AF_INET : AF_INET6);
  if ("mark" in place) {
    writer.u32(IPVS_SVC_ATTR_FWMARK, place.mark);
    return;
  }
  writer.u16(IPVS_SVC_ATTR_PROTOCOL, PROTOCOL_NUMBERS[place.protocol]);
  writer.bytes(IPVS_SVC_ATTR_ADDR, unionAddress(place.ip));
  writer.be16(IPVS_SVC_ATTR_PORT, place.port);
}

function writeSettings(writer: NetlinkWriter, server: VirtualServer): void {
  const { family, scheduler, flags, persistenceSeconds } = server;
  writer.text(IPVS_SVC_ATTR_SCHED_NAME, scheduler);
  writer.bytes(IPVS_SVC_ATTR_FLAGS, flagsWithMask(flags));
  writer.u32(IPVS_SVC_ATTR_TIMEOUT, persistenceSeconds);
  writer.u32(IPVS_SVC_ATTR_NETMASK, WHOLE_MASKS[family]);
}

function writeDestination(writer: NetlinkWriter, to: Destination, isWhole: boolean): void {
  writer.bytes(IPVS_DEST_ATTR_ADDR, unionAddress(to.ip));
  writer.be16(IPVS_DEST_ATTR_PORT, to.port);
  if (!isWhole) return;
  writer.u32(IPVS_DEST_ATTR_FWD_METHOD, IP_VS_CONN_F_MASQ);
  writer.u32(IPVS_DEST_ATTR_WEIGHT, to.weight);
  writer.u32(IPVS_DEST_ATTR_U_THRESH, 0);
  writer.u32(IPVS_DEST_ATTR_L_THRESH, 0);
}

function writeTimeouts(writer: NetlinkWriter, { tcp, tcpFin, udp }: IpvsTimeouts): void {
  writer.u32(IPVS_CMD_ATTR_TIMEOUT_TCP, tcp);
  writer.u32(IPVS_CMD_ATTR_TIMEOUT_TCP_FIN, tcpFin);
  writer.u32(IPVS_CMD_ATTR_TIMEOUT_UDP, udp);
}

/** union nf_inet_addr: IPv4 takes its first bytes. */
function unionAddress(ip: string): Uint8Array {
  const bytes = new Uint8Array(V6_BYTES);
  writeIp(ip, bytes, 0);
  return bytes;
}

/** struct ip_vs_flags. */
function flagsWithMask(flags: number): Uint8Array {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, flags, true);
  view.setUint32(4, EVERY_FLAG, true);
  return bytes;
}
