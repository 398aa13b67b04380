import { canonicalIp, familyOf } from "../../core/model/address.ts";
import { V6_BYTES, writeIp } from "../../wire/ip-bytes.ts";

const V4_LABEL = /^\d{1,3}(?:-\d{1,3}){3}$/;
const V6_LABEL = /^[0-9a-f]{1,4}(?:-[0-9a-f]{1,4}){7}$/;
const GROUP_BYTES = 2;

/** The label that stands for an address in names: `10-0-0-1`, `fd00-0-0-0-0-0-0-1`. */
export function renderAddressLabel(ip: string): string {
  if (familyOf(ip) === "v4") return ip.replaceAll(".", "-");
  const bytes = Buffer.alloc(V6_BYTES);
  writeIp(ip, bytes, 0);
  const groups: string[] = [];
  for (let at = 0; at < V6_BYTES; at += GROUP_BYTES) {
    groups.push(bytes.readUInt16BE(at).toString(16));
  }
  return groups.join("-");
}

/** Undefined where a label stands for none. */
export function parseAddressLabel(label: string): string | undefined {
  if (V4_LABEL.test(label)) return canonicalIp(label.replaceAll("-", "."));
  return V6_LABEL.test(label) ? canonicalIp(label.replaceAll("-", ":")) : undefined;
}
