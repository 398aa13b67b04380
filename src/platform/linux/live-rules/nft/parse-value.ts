import { canonicalIp, parseCidr } from "../../../../core/model/address.ts";
import type { Pattern, Value } from "../pattern.ts";
import { asList, asObject, tagOf } from "./json.ts";

const PROTOCOL_NAMES: ReadonlyMap<number, string> = new Map([
  [1, "icmp"],
  [6, "tcp"],
  [17, "udp"],
  [58, "ipv6-icmp"],
  [132, "sctp"],
]);

const FAMILY_NAMES: Readonly<Record<string, string>> = {
  ip: "v4",
  ip6: "v6",
  ipv4: "v4",
  ipv6: "v6",
};

/** Their bits in the header: RFC 9293, section 3.1. */
const TCP_FLAGS: ReadonlyMap<unknown, number> = new Map([
  ["fin", 1],
  ["syn", 2],
  ["rst", 4],
  ["psh", 8],
  ["ack", 16],
  ["urg", 32],
  ["ecn", 64],
  ["cwr", 128],
]);

const CLASS_ID = /^([0-9a-f]+):([0-9a-f]+)$/;
const HEX = 16;

/** What a place holds, in the words of `nft`: numbers stand for different things in different places. */
export type ValueType = string | undefined;

/** Undefined where it is not understood. */
export function parseValue(json: unknown, type?: ValueType): Value | undefined {
  if (type === "tcp_flag") return parseFlags(json);
  if (typeof json === "number") {
    if (type === "inet_proto") return PROTOCOL_NAMES.get(json) ?? json;
    // Some versions of nft print large ones as if they were negative.
    return json >>> 0;
  }
  if (typeof json === "string") return parseText(json, type);
  const { tag, body } = tagOf(json);
  if (tag !== "concat") return undefined;
  const types = typesOf(type);
  const parts = asList(body).map((part, index) => parseValue(part, types[index]));
  const known = parts.filter((part) => part !== undefined);
  return known.length === parts.length ? known : undefined;
}

/** What values are compared with: one of them, networks, ranges; undefined where not understood. */
export function parsePattern(json: unknown, type?: ValueType): Pattern | undefined {
  if (json === "*") return { kind: "anything" };
  if (typeof json === "string" && type === "ifname" && json.endsWith("*")) {
    return { kind: "beginning", text: json.slice(0, -1) };
  }
  const { tag, body } = tagOf(json);
  switch (tag) {
    case "prefix": {
      const { addr, len } = asObject(body);
      const cidr = parseCidr(`${String(addr)}/${String(len)}`);
      return cidr && { kind: "network", cidr };
    }
    case "range": {
      const [from, to] = asList(body).map((end) => parseValue(end, type));
      return from === undefined || to === undefined ? undefined : { kind: "range", from, to };
    }
    case "concat":
      return parseTuple(asList(body), typesOf(type));
    case "set": {
      const patterns = asList(body).map((each) => parsePattern(withoutElem(each), type));
      const known = patterns.filter((each) => each !== undefined);
      return known.length === patterns.length ? { kind: "any-of", patterns: known } : undefined;
    }
    default: {
      const value = parseValue(json, type);
      return value === undefined ? undefined : { kind: "value", value };
    }
  }
}

/** `{ "elem": { "val": ..., "timeout": ... } }` stands for what is in it. */
export function withoutElem(json: unknown): unknown {
  const { tag, body } = tagOf(json);
  return tag === "elem" ? asObject(body)["val"] : json;
}

/** `ipv4_addr . inet_service` or a list of names. */
export function typesOf(type: unknown): readonly ValueType[] {
  if (typeof type === "string") return type.split(" . ");
  return asList(type).map((each) => (typeof each === "string" ? each : undefined));
}

function parseTuple(parts: readonly unknown[], types: readonly ValueType[]): Pattern | undefined {
  const patterns = parts.map((part, index) => parsePattern(part, types[index]));
  const known = patterns.filter((part) => part !== undefined);
  if (known.length < patterns.length) return undefined;
  const values = known.flatMap((part) => (part.kind === "value" ? [part.value] : []));
  return values.length === known.length
    ? { kind: "value", value: values }
    : { kind: "tuple", parts: known };
}

function parseText(text: string, type: ValueType): Value {
  if (type === "classid") return parseClassId(text);
  if (type === "nf_proto" || type === "ether_type") return FAMILY_NAMES[text] ?? text;
  return canonicalIp(text) ?? text;
}

/** What `meta priority` is printed as. */
function parseClassId(text: string): Value {
  if (text === "none") return 0;
  if (text === "root") return 0xffff_ffff;
  const match = CLASS_ID.exec(text);
  if (match === null) return text;
  const [, major = "0", minor = "0"] = match;
  return Number.parseInt(major, HEX) * 0x1_0000 + Number.parseInt(minor, HEX);
}

/** `syn`, a list of them, or `{ "|": [...] }` of lists. */
function parseFlags(json: unknown): number | undefined {
  if (typeof json === "number") return json;
  const { tag, body } = tagOf(json);
  const list = tag === "|" ? body : json;
  if (!Array.isArray(list)) return TCP_FLAGS.get(list);
  return list.map(parseFlags).reduce((all, each) => {
    return all === undefined || each === undefined ? undefined : all | each;
  }, 0);
}
