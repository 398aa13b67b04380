import { type Family, familyOf, formatHostPort } from "../../core/model/address.ts";
import type { AddressChange } from "../../platform/linux/links/service-link.ts";
import { type IpSetChange, MAX_ENTRIES } from "../../wire/netlink/ipset/encode-ipset.ts";
import { entryText, HOST_BITS } from "../../wire/netlink/ipset/ip-set.ts";
import type { IpvsChange } from "../../wire/netlink/ipvs/encode-ipvs.ts";
import { IP_VS_SVC_F_SCHED_FALLBACK } from "../../wire/netlink/ipvs/ipvs-words.ts";
import { destinationId, type VirtualServer } from "../../wire/netlink/ipvs/virtual-server.ts";
import { LINK_NAME } from "./kernel/platform.ts";

const PROTOCOL_FLAGS = { TCP: "-t", UDP: "-u", SCTP: "--sctp-service" } as const;
const VERBS = {
  newService: "-A",
  setService: "-E",
  deleteService: "-D",
  newDestination: "-a",
  setDestination: "-e",
  deleteDestination: "-d",
} as const;

/** By which an address is never chosen as a source by itself. */
const NEVER_A_SOURCE: Readonly<Record<Family, string>> = {
  v4: "scope host",
  v6: "nodad preferred_lft 0",
};

/** The line of `ipvsadm -R` that does the same. */
export function renderIpvsChange(change: IpvsChange): string {
  if (change.kind === "setConfig") {
    const { tcp, tcpFin, udp } = change.timeouts;
    return `--set ${tcp} ${tcpFin} ${udp}`;
  }
  const words = [VERBS[change.kind], placeWords(change.server)];
  if (change.kind === "newService" || change.kind === "setService") {
    words.push(settingWords(change.server));
  }
  if ("destination" in change) {
    words.push(`-r ${destinationId(change.destination)}`);
    if (change.kind !== "deleteDestination") words.push(`-m -w ${change.destination.weight}`);
  }
  return words.join(" ");
}

/** The line of `ipset restore` that does the same. */
export function renderSetChange(change: IpSetChange): string {
  const { kind, set } = change;
  if ("entry" in change) {
    const verb = kind === "add" ? "add" : "del";
    return `${verb} ${set.name} ${entryText(change.entry)}`;
  }
  if (kind === "destroy") return `destroy ${set.name}`;
  if (set.type === "bitmap:port") return `create ${set.name} bitmap:port range 0-65535`;
  const family = set.family === "v4" ? "inet" : "inet6";
  const marks = set.hasMarks ? " skbinfo" : "";
  return `create ${set.name} ${set.type} family ${family} maxelem ${MAX_ENTRIES}${marks}`;
}

/** The line of `ip -batch` that does the same. */
export function renderAddressChange({ kind, ip }: AddressChange): string {
  const family = familyOf(ip);
  const at = `${ip}/${HOST_BITS[family]} dev ${LINK_NAME}`;
  return kind === "add" ? `address add ${at} ${NEVER_A_SOURCE[family]}` : `address del ${at}`;
}

function placeWords({ family, place }: VirtualServer): string {
  if ("mark" in place) return `-f ${place.mark}${family === "v6" ? " -6" : ""}`;
  return `${PROTOCOL_FLAGS[place.protocol]} ${formatHostPort(place.ip, place.port)}`;
}

function settingWords({ scheduler, flags, persistenceSeconds }: VirtualServer): string {
  const persistence = persistenceSeconds > 0 ? ` -p ${persistenceSeconds}` : "";
  const fallback = (flags & IP_VS_SVC_F_SCHED_FALLBACK) === 0 ? "" : ` -b ${scheduler}-fallback`;
  return `-s ${scheduler}${persistence}${fallback}`;
}
