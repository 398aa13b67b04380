import { PROTOCOLS } from "../../../core/model/common.ts";
import { readIp } from "../../ip-bytes.ts";
import { AttributeCursor } from "../attribute-cursor.ts";
import { PROTOCOL_NUMBERS } from "../conntrack/flow.ts";
import { GENERIC_HEADER_BYTES } from "../generic/generic-codec.ts";
import {
  AF_INET,
  AF_INET6,
  IP_VS_CONN_F_FWD_MASK,
  IP_VS_CONN_F_MASQ,
  IP_VS_SVC_F_HASHED,
  IPVS_CMD_ATTR_DEST,
  IPVS_CMD_ATTR_SERVICE,
  IPVS_CMD_ATTR_TIMEOUT_TCP,
  IPVS_CMD_ATTR_TIMEOUT_TCP_FIN,
  IPVS_CMD_ATTR_TIMEOUT_UDP,
  IPVS_DEST_ATTR_ACTIVE_CONNS,
  IPVS_DEST_ATTR_ADDR,
  IPVS_DEST_ATTR_FWD_METHOD,
  IPVS_DEST_ATTR_INACT_CONNS,
  IPVS_DEST_ATTR_L_THRESH,
  IPVS_DEST_ATTR_PORT,
  IPVS_DEST_ATTR_STATS64,
  IPVS_DEST_ATTR_U_THRESH,
  IPVS_DEST_ATTR_WEIGHT,
  IPVS_STATS_ATTR_CONNS,
  IPVS_STATS_ATTR_INBYTES,
  IPVS_STATS_ATTR_INPKTS,
  IPVS_STATS_ATTR_OUTBYTES,
  IPVS_STATS_ATTR_OUTPKTS,
  IPVS_SVC_ATTR_ADDR,
  IPVS_SVC_ATTR_AF,
  IPVS_SVC_ATTR_FLAGS,
  IPVS_SVC_ATTR_FWMARK,
  IPVS_SVC_ATTR_NETMASK,
  IPVS_SVC_ATTR_PORT,
  IPVS_SVC_ATTR_PROTOCOL,
  IPVS_SVC_ATTR_SCHED_NAME,
  IPVS_SVC_ATTR_STATS64,
  IPVS_SVC_ATTR_TIMEOUT,
  WHOLE_MASKS,
} from "./ipvs-words.ts";
import type {
  DestinationState,
  IpvsStatistics,
  IpvsTimeouts,
  VirtualServerState,
} from "./virtual-server.ts";

const NOTHING: IpvsStatistics = {
  connections: 0,
  packetsIn: 0,
  packetsOut: 0,
  bytesIn: 0,
  bytesOut: 0,
};

/** The virtual server of a message; undefined where it is of a protocol that we do not know. */
export function parseServer(
  view: DataView,
  from: number,
  to: number,
): VirtualServerState | undefined {
  const cursor = enterNested(view, from, to, IPVS_CMD_ATTR_SERVICE);
  if (cursor === undefined) return undefined;
  let af = 0;
  let number = 0;
  let address: Uint8Array = new Uint8Array(0);
  let port = 0;
  let mark = 0;
  let scheduler = "";
  let flags = 0;
  let persistenceSeconds = 0;
  let mask = 0;
  let statistics = NOTHING;
  while (cursor.next()) {
    switch (cursor.type) {
      case IPVS_SVC_ATTR_AF:
        af = cursor.u16();
        break;
      case IPVS_SVC_ATTR_PROTOCOL:
        number = cursor.u16();
        break;
      case IPVS_SVC_ATTR_ADDR:
        address = cursor.bytes();
        break;
      case IPVS_SVC_ATTR_PORT:
        port = cursor.be16();
        break;
      case IPVS_SVC_ATTR_FWMARK:
        mark = cursor.u32();
        break;
      case IPVS_SVC_ATTR_SCHED_NAME:
        scheduler = cursor.text();
        break;
      case IPVS_SVC_ATTR_FLAGS:
        flags = cursor.u32() & ~IP_VS_SVC_F_HASHED;
        break;
      case IPVS_SVC_ATTR_TIMEOUT:
        persistenceSeconds = cursor.u32();
        break;
      case IPVS_SVC_ATTR_NETMASK:
        mask = cursor.u32();
        break;
      case IPVS_SVC_ATTR_STATS64:
        statistics = parseStatistics(cursor);
        break;
    }
  }
  const family = af === AF_INET ? "v4" : "v6";
  const protocol = PROTOCOLS.find((name) => PROTOCOL_NUMBERS[name] === number);
  const isByAddress = mask === WHOLE_MASKS[family];
  const rest = { family, scheduler, flags, persistenceSeconds, isByAddress, statistics } as const;
  if (mark !== 0) return { ...rest, place: { mark } };
  if (protocol === undefined || (af !== AF_INET && af !== AF_INET6)) return undefined;
  return { ...rest, place: { protocol, ip: addressOf(address, af), port } };
}

/** The real server of a message. @param af of its virtual server */
export function parseDestination(
  view: DataView,
  from: number,
  to: number,
  af: number,
): DestinationState | undefined {
  const cursor = enterNested(view, from, to, IPVS_CMD_ATTR_DEST);
  if (cursor === undefined) return undefined;
  let address: Uint8Array = new Uint8Array(0);
  let port = 0;
  let weight = 0;
  let method = 0;
  let limits = 0;
  let activeConnections = 0;
  let inactiveConnections = 0;
  let statistics = NOTHING;
  while (cursor.next()) {
    switch (cursor.type) {
      case IPVS_DEST_ATTR_ADDR:
        address = cursor.bytes();
        break;
      case IPVS_DEST_ATTR_PORT:
        port = cursor.be16();
        break;
      case IPVS_DEST_ATTR_WEIGHT:
        weight = cursor.u32();
        break;
      case IPVS_DEST_ATTR_FWD_METHOD:
        method = cursor.u32();
        break;
      case IPVS_DEST_ATTR_U_THRESH:
      case IPVS_DEST_ATTR_L_THRESH:
        limits += cursor.u32();
        break;
      case IPVS_DEST_ATTR_ACTIVE_CONNS:
        activeConnections = cursor.u32();
        break;
      case IPVS_DEST_ATTR_INACT_CONNS:
        inactiveConnections = cursor.u32();
        break;
      case IPVS_DEST_ATTR_STATS64:
        statistics = parseStatistics(cursor);
        break;
    }
  }
  const isTranslated = (method & IP_VS_CONN_F_FWD_MASK) === IP_VS_CONN_F_MASQ;
  const ip = addressOf(address, af);
  const counts = { activeConnections, inactiveConnections, statistics };
  return { ip, port, weight, isTranslated, isLimited: limits > 0, ...counts };
}

/** How long connections are remembered. */
export function parseTimeouts(view: DataView, from: number, to: number): IpvsTimeouts {
  let [tcp, tcpFin, udp] = [0, 0, 0];
  const cursor = new AttributeCursor();
  cursor.enter(view, from + GENERIC_HEADER_BYTES, to);
  while (cursor.next()) {
    switch (cursor.type) {
      case IPVS_CMD_ATTR_TIMEOUT_TCP:
        tcp = cursor.u32();
        break;
      case IPVS_CMD_ATTR_TIMEOUT_TCP_FIN:
        tcpFin = cursor.u32();
        break;
      case IPVS_CMD_ATTR_TIMEOUT_UDP:
        udp = cursor.u32();
        break;
    }
  }
  return { tcp, tcpFin, udp };
}

function enterNested(
  view: DataView,
  from: number,
  to: number,
  type: number,
): AttributeCursor | undefined {
  const outer = new AttributeCursor();
  outer.enter(view, from + GENERIC_HEADER_BYTES, to);
  while (outer.next()) {
    if (outer.type !== type) continue;
    const inner = new AttributeCursor();
    outer.into(inner);
    return inner;
  }
  return undefined;
}

function parseStatistics(outer: AttributeCursor): IpvsStatistics {
  const cursor = new AttributeCursor();
  outer.into(cursor);
  const counted = { ...NOTHING };
  while (cursor.next()) {
    const value = Number(cursor.u64());
    switch (cursor.type) {
      case IPVS_STATS_ATTR_CONNS:
        counted.connections = value;
        break;
      case IPVS_STATS_ATTR_INPKTS:
        counted.packetsIn = value;
        break;
      case IPVS_STATS_ATTR_OUTPKTS:
        counted.packetsOut = value;
        break;
      case IPVS_STATS_ATTR_INBYTES:
        counted.bytesIn = value;
        break;
      case IPVS_STATS_ATTR_OUTBYTES:
        counted.bytesOut = value;
        break;
    }
  }
  return counted;
}

function addressOf(bytes: Uint8Array, af: number): string {
  const length = af === AF_INET ? 4 : 16;
  if (bytes.length < length) return "";
  return readIp(bytes, 0, length);
}
