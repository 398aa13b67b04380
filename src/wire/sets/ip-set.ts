import { familyOf } from "../../core/model/address.ts";
import { EMPTY } from "../../core/model/common.ts";
import type { ProtoReader } from "../protobuf/proto-reader.ts";
import type { ProtoWriter } from "../protobuf/proto-writer.ts";
import { checkedIp } from "./checks.ts";

/** `localv1.IPSet`, and nothing where there is no address. */
export function writeIpSet(writer: ProtoWriter, field: number, ips: readonly string[]): void {
  if (ips.length === 0) return;
  writer.begin(field);
  const [first] = ips;
  if (ips.length === 1 && first !== undefined) {
    writer.string(familyOf(first) === "v4" ? 1 : 2, first);
    writer.end();
    return;
  }
  writeSorted(writer, 1, ofFamily(ips, "v4"));
  writeSorted(writer, 2, ofFamily(ips, "v6"));
  writer.end();
}

/** The addresses, those of IPv4 first. */
export function readIpSet(reader: ProtoReader, what: string): readonly string[] {
  const outer = reader.enter();
  const v4: string[] = [];
  const v6: string[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) v4.push(checkedIp(what, reader.string()));
    else if (field === 2) v6.push(checkedIp(what, reader.string()));
    else reader.skip();
  }
  reader.leave(outer);
  if (v6.length === 0) return v4.length === 0 ? EMPTY : v4;
  return v4.concat(v6);
}

/**
 * An IPSet keeps no order, the model does (the first address is the primary one). This writes the
 * list as it is, but only where reading the set would give another one.
 */
export function writeOrder(writer: ProtoWriter, field: number, ips: readonly string[]): void {
  if (ips.length < 2) return;
  const read = [...sortedUnique(ofFamily(ips, "v4")), ...sortedUnique(ofFamily(ips, "v6"))];
  if (read.length !== ips.length || read.some((ip, index) => ip !== ips[index])) {
    writer.strings(field, ips);
  }
}

function ofFamily(ips: readonly string[], family: "v4" | "v6"): readonly string[] {
  return ips.filter((ip) => familyOf(ip) === family);
}

function writeSorted(writer: ProtoWriter, field: number, ips: readonly string[]): void {
  writer.strings(field, ips.length < 2 ? ips : sortedUnique(ips));
}

function sortedUnique(ips: readonly string[]): readonly string[] {
  return [...new Set(ips)].sort();
}
