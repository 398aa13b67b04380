import { type Cidr, familyOf } from "../../../core/model/address.ts";
import { V6_BYTES, writeIp } from "../../ip-bytes.ts";
import { AF_INET, AF_INET6 } from "../ipvs/ipvs-words.ts";
import {
  NLM_F_ACK,
  NLM_F_CREATE,
  NLM_F_EXCL,
  NLM_F_REPLACE,
  NLM_F_REQUEST,
} from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import {
  RT_SCOPE_LINK,
  RT_SCOPE_UNIVERSE,
  RT_TABLE_MAIN,
  RTA_DST,
  RTA_GATEWAY,
  RTA_OIF,
  RTA_PREFSRC,
  RTA_PRIORITY,
  RTM_DELROUTE,
  RTM_NEWROUTE,
  RTMSG_BYTES,
  RTN_UNICAST,
  RTN_UNREACHABLE,
  RTPROT_STATIC,
} from "./route-words.ts";

/** Where packets for a network go: to a router, straight to a link, or nowhere. */
export interface Route {
  readonly to: Cidr;
  readonly next:
    | { readonly kind: "router"; readonly ip: string; readonly link: number }
    | { readonly kind: "link"; readonly link: number }
    | { readonly kind: "unreachable" };
  /** What the machine itself sends from. */
  readonly source?: string;
  /** The lower one wins; 0 lets the kernel choose. */
  readonly metric?: number;
}

/** `add` is refused where there is one; `replace` is not. */
export interface RouteMessage {
  readonly kind: "add" | "replace" | "delete";
  readonly route: Route;
}

const FLAGS: Readonly<Record<RouteMessage["kind"], number>> = {
  add: NLM_F_CREATE | NLM_F_EXCL,
  replace: NLM_F_CREATE | NLM_F_REPLACE,
  delete: 0,
};

export function writeRouteChange(
  writer: NetlinkWriter,
  sequence: number,
  { kind, route }: RouteMessage,
): void {
  const { to, next, source, metric = 0 } = route;
  const flags = NLM_F_REQUEST | NLM_F_ACK | FLAGS[kind];
  const type = kind === "delete" ? RTM_DELROUTE : RTM_NEWROUTE;
  writer.message({ type, flags, sequence }, () => {
    writer.header(routeHeader(route));
    if (to.prefix > 0) putIp(writer, RTA_DST, to.text.slice(0, to.text.indexOf("/")));
    if (next.kind === "router") putIp(writer, RTA_GATEWAY, next.ip);
    if (next.kind !== "unreachable") writer.u32(RTA_OIF, next.link);
    if (source !== undefined && familyOf(source) === to.family) {
      putIp(writer, RTA_PREFSRC, source);
    }
    if (metric > 0) writer.u32(RTA_PRIORITY, metric);
  });
}

function routeHeader({ to, next }: Route): Uint8Array {
  const scope = next.kind === "link" && to.family === "v4" ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
  const type = next.kind === "unreachable" ? RTN_UNREACHABLE : RTN_UNICAST;
  const header = new Uint8Array(RTMSG_BYTES);
  header.set([to.family === "v4" ? AF_INET : AF_INET6, to.prefix, 0, 0, RT_TABLE_MAIN]);
  header.set([RTPROT_STATIC, scope, type], 5);
  return header;
}

function putIp(writer: NetlinkWriter, type: number, ip: string): void {
  const bytes = new Uint8Array(V6_BYTES);
  writer.bytes(type, bytes.subarray(0, writeIp(ip, bytes, 0)));
}
