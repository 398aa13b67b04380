import { PROTOCOLS } from "../../../core/model/common.ts";
import { readIp } from "../../ip-bytes.ts";
import { AttributeCursor } from "../attribute-cursor.ts";
import { NFGENMSG_BYTES } from "../conntrack/conntrack-words.ts";
import { PROTOCOL_NUMBERS } from "../conntrack/flow.ts";
import type { IpSetEntry } from "./ip-set.ts";
import {
  IPSET_ATTR_ADT,
  IPSET_ATTR_CADT_FLAGS,
  IPSET_ATTR_CIDR2,
  IPSET_ATTR_DATA,
  IPSET_ATTR_IP,
  IPSET_ATTR_IP2,
  IPSET_ATTR_IPADDR_IPV4,
  IPSET_ATTR_IPADDR_IPV6,
  IPSET_ATTR_PORT,
  IPSET_ATTR_PROTO,
  IPSET_ATTR_SKBMARK,
  IPSET_FLAG_NOMATCH,
} from "./ipset-words.ts";

const MARK_SHIFT = 32n;

/** Calls `take` for each entry in a part of a listing. */
export function parseEntries(
  view: DataView,
  from: number,
  to: number,
  take: (entry: IpSetEntry) => void,
): void {
  const message = new AttributeCursor();
  const entries = new AttributeCursor();
  message.enter(view, from + NFGENMSG_BYTES, to);
  while (message.next()) {
    if (message.type !== IPSET_ATTR_ADT) continue;
    message.into(entries);
    while (entries.next()) if (entries.type === IPSET_ATTR_DATA) take(parseEntry(entries));
  }
}

function parseEntry(outer: AttributeCursor): IpSetEntry {
  const cursor = new AttributeCursor();
  outer.into(cursor);
  const entry: { -readonly [K in keyof IpSetEntry]: IpSetEntry[K] } = {};
  let length: number | undefined;
  while (cursor.next()) {
    switch (cursor.type) {
      case IPSET_ATTR_IP:
        entry.ip = addressIn(cursor);
        break;
      case IPSET_ATTR_PORT:
        entry.port = cursor.be16();
        break;
      case IPSET_ATTR_IP2:
        entry.second = addressIn(cursor);
        break;
      case IPSET_ATTR_CIDR2:
        length = cursor.u8();
        break;
      case IPSET_ATTR_PROTO:
        Object.assign(entry, protocolOf(cursor.u8()));
        break;
      case IPSET_ATTR_CADT_FLAGS:
        if ((cursor.be32() & IPSET_FLAG_NOMATCH) !== 0) entry.isException = true;
        break;
      case IPSET_ATTR_SKBMARK:
        entry.mark = Number(cursor.be64() >> MARK_SHIFT);
        break;
    }
  }
  if (length !== undefined && entry.second !== undefined) entry.second += `/${length}`;
  return entry;
}

/** Sets of ports alone have none. */
function protocolOf(number: number): Pick<IpSetEntry, "protocol"> {
  const protocol = PROTOCOLS.find((name) => PROTOCOL_NUMBERS[name] === number);
  return protocol === undefined ? {} : { protocol };
}

function addressIn(outer: AttributeCursor): string {
  const cursor = new AttributeCursor();
  outer.into(cursor);
  while (cursor.next()) {
    const bytes = cursor.bytes();
    if (cursor.type === IPSET_ATTR_IPADDR_IPV4 && bytes.length === 4) return readIp(bytes, 0, 4);
    if (cursor.type === IPSET_ATTR_IPADDR_IPV6 && bytes.length === 16) return readIp(bytes, 0, 16);
  }
  return "";
}
