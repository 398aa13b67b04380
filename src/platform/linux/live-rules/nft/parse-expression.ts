import type { Family } from "../../../../core/model/address.ts";
import type { Expression, PacketField } from "../ruleset.ts";
import { asList, asObject, asText, type JsonObject, tagOf } from "./json.ts";
import { parseContainerRef } from "./parse-container.ts";
import { parseValue, type ValueType } from "./parse-value.ts";

/** A field of packets, and what it holds. */
export interface TypedField {
  readonly field: PacketField;
  readonly type: ValueType;
  /** The only packets that have it; nft checks that first, and does not print it. */
  readonly protocol?: string;
  readonly family?: Family;
}

const META: Readonly<Record<string, TypedField>> = {
  l4proto: { field: "protocol", type: "inet_proto" },
  mark: { field: "mark", type: "mark" },
  priority: { field: "priority", type: "classid" },
  iifname: { field: "inInterface", type: "ifname" },
  oifname: { field: "outInterface", type: "ifname" },
  iif: { field: "inInterface", type: "iface_index" },
  oif: { field: "outInterface", type: "iface_index" },
  nfproto: { field: "family", type: "nf_proto" },
  protocol: { field: "family", type: "ether_type" },
};

/** By key, with a direction before those that have one. */
const CONNECTION: Readonly<Record<string, TypedField>> = {
  mark: { field: "connectionMark", type: "mark" },
  state: { field: "connectionState", type: "ct_state" },
  "original daddr": { field: "originalDst", type: undefined },
  "original ip daddr": { field: "originalDst", type: "ipv4_addr", family: "v4" },
  "original ip6 daddr": { field: "originalDst", type: "ipv6_addr", family: "v6" },
  "original ip saddr": { field: "src", type: "ipv4_addr", family: "v4" },
  "original ip6 saddr": { field: "src", type: "ipv6_addr", family: "v6" },
  "original proto-dst": { field: "originalDstPort", type: "inet_service" },
  "original protocol": { field: "protocol", type: "inet_proto" },
  "original saddr": { field: "src", type: undefined },
};

const TRANSPORTS: ReadonlySet<string> = new Set(["sctp", "tcp", "udp"]);

/** Packets of services have no such header. */
const OTHER_PROTOCOLS: ReadonlySet<string> = new Set([
  "ah",
  "comp",
  "dccp",
  "esp",
  "icmp",
  "icmpv6",
  "igmp",
  "udplite",
]);

const HEADER_FAMILIES: Readonly<Record<string, Family>> = { ip: "v4", ip6: "v6" };

const PAYLOAD: Readonly<Record<string, TypedField>> = {
  "ip saddr": { field: "src", type: "ipv4_addr", family: "v4" },
  "ip daddr": { field: "dst", type: "ipv4_addr", family: "v4" },
  "ip protocol": { field: "protocol", type: "inet_proto" },
  "ip6 saddr": { field: "src", type: "ipv6_addr", family: "v6" },
  "ip6 daddr": { field: "dst", type: "ipv6_addr", family: "v6" },
  "ip6 nexthdr": { field: "protocol", type: "inet_proto" },
  "th sport": { field: "srcPort", type: "inet_service" },
  "tcp flags": { field: "tcpFlags", type: "tcp_flag", protocol: "tcp" },
  "th dport": { field: "dstPort", type: "inet_service" },
};

const PORT_FIELDS: Readonly<Record<string, PacketField>> = { sport: "srcPort", dport: "dstPort" };

/** Names of tables' things are not unique: where a rule stands says which are meant. */
export interface RulePlace {
  readonly family: string;
  readonly table: string;
  /** The rule as nft prints it for people, which tells them what is not known. */
  readonly rule?: string | undefined;
}

/** @param type what a constant is, where that is known */
export function parseExpression(json: unknown, place: RulePlace, type?: ValueType): Expression {
  const { tag, body } = tagOf(json);
  const inner = asObject(body);
  switch (tag) {
    case "meta":
    case "payload":
    case "fib":
    case "ct": {
      const typed = parseField(json);
      if (typed === undefined) return { ...unknown(json, place), ...headerOf(json) };
      const { field, protocol, family } = typed;
      return { kind: "field", field, ...(protocol && { protocol }), ...(family && { family }) };
    }
    case "concat":
      return { kind: "tuple", parts: asList(body).map((part) => parseExpression(part, place)) };
    case "&":
    case "|":
    case "^": {
      const flags = type === "tcp_flag" ? parseValue(json, type) : undefined;
      if (flags !== undefined) return { kind: "constant", value: flags };
      const partType = typeOf(json);
      const [left, right] = asList(body).map((part) => parseExpression(part, place, partType));
      if (left === undefined || right === undefined) return unknown(json, place);
      return { kind: "bits", operator: tag, left, right };
    }
    case "numgen": {
      const count = Number(inner["mod"]);
      return { kind: "one-of", count, offset: Number(inner["offset"] ?? 0) };
    }
    case "jhash":
      return parseHash(inner, place);
    case "map":
      return {
        kind: "map",
        key: parseExpression(inner["key"], place),
        container: parseContainerRef(inner["data"], place, typeOf(inner["key"])),
      };
    default: {
      const value = parseValue(json, type);
      return value === undefined ? unknown(json, place) : { kind: "constant", value };
    }
  }
}

/** A hash over few numbers chooses: which client gets which is as good as chance. */
const MOST_CHOICES = 65_536;

function parseHash(body: JsonObject, place: RulePlace): Expression {
  // nft prints large ones as if they were negative.
  const modulus = Number(body["mod"]) >>> 0;
  const offset = Number(body["offset"] ?? 0);
  if (modulus <= MOST_CHOICES) return { kind: "one-of", count: modulus, offset };
  const { seed } = body;
  // Without a seed the kernel takes one that it does not tell.
  if (typeof seed !== "number") return unknown({ jhash: body }, place);
  return { kind: "hash", of: parseExpression(body["expr"], place), modulus, seed, offset };
}

/** Undefined where it is none that is known. */
export function parseField(json: unknown): TypedField | undefined {
  const { tag, body } = tagOf(json);
  const inner = asObject(body);
  switch (tag) {
    case "meta":
      return META[asText(inner["key"])];
    case "payload":
      return payloadField(asText(inner["protocol"]), asText(inner["field"]));
    case "fib":
      return fibField(asText(inner["result"]), asList(inner["flags"]));
    case "ct":
      return CONNECTION[
        [inner["dir"], inner["key"]].filter((word) => word !== undefined).join(" ")
      ];
    default:
      return undefined;
  }
}

/** What the values of an expression are. */
export function typeOf(json: unknown): ValueType {
  const { tag, body } = tagOf(json);
  if (tag === "concat")
    return asList(body)
      .map((part) => typeOf(part) ?? "")
      .join(" . ");
  if (tag === "&" || tag === "|" || tag === "^") return typeOf(asList(body)[0]);
  return parseField(json)?.type;
}

function payloadField(protocol: string, field: string): TypedField | undefined {
  const port = TRANSPORTS.has(protocol) ? PORT_FIELDS[field] : undefined;
  return port === undefined
    ? PAYLOAD[`${protocol} ${field}`]
    : { field: port, type: "inet_service", protocol };
}

function fibField(result: string, flags: readonly unknown[]): TypedField | undefined {
  const [flag, ...others] = flags;
  if (result !== "type" || others.length > 0) return undefined;
  if (flag === "saddr") return { field: "srcType", type: "fib_addrtype" };
  if (flag === "daddr") return { field: "dstType", type: "fib_addrtype" };
  return undefined;
}

/** Which packets have what nobody here knows. */
function headerOf(json: unknown): { readonly protocol?: string; readonly family?: Family } {
  const { tag, body } = tagOf(json);
  const protocol = tag === "payload" ? asText(asObject(body)["protocol"]) : "";
  const family = HEADER_FAMILIES[protocol];
  if (family !== undefined) return { family };
  const isTransport = OTHER_PROTOCOLS.has(protocol) || TRANSPORTS.has(protocol);
  return isTransport ? { protocol } : {};
}

function unknown(json: unknown, { rule }: RulePlace): Extract<Expression, { kind: "unknown" }> {
  return { kind: "unknown", text: rule ?? JSON.stringify(json) };
}
