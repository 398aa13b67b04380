import { parseCidr } from "../../../../core/model/address.ts";
import type { Pattern } from "../pattern.ts";
import type { Expression, PacketField, Step, WordsField } from "../ruleset.ts";

/** Reads the arguments of an option; undefined where it does not understand them. */
export type MatchParser = (value: string, isNegated: boolean) => Step | undefined;

/** Extensions whose options are all below; others are named as not known. */
export const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  "addrtype",
  "comment",
  "connmark",
  "conntrack",
  "mark",
  "multiport",
  "recent",
  "rpfilter",
  "rt",
  "sctp",
  "set",
  "state",
  "statistic",
  "tcp",
  "udp",
]);

const ASIDE: Step = { kind: "aside" };
const NEVER: Step = {
  kind: "match",
  left: { kind: "constant", value: 0 },
  right: { kind: "pattern", pattern: { kind: "value", value: 1 } },
  isNegated: false,
};

/** What an option matches, by its name; each takes one value. */
export const MATCHES: Readonly<Record<string, MatchParser>> = {
  "-s": address("src"),
  "-d": address("dst"),
  "-i": device("inInterface"),
  "-o": device("outInterface"),
  "-p": (value, isNegated) => equals("protocol", protocolName(value), isNegated),
  "--sport": ports("srcPort"),
  "--dport": ports("dstPort"),
  "--sports": ports("srcPort"),
  "--dports": ports("dstPort"),
  "--src-type": (value, isNegated) => equals("srcType", value.toLowerCase(), isNegated),
  "--dst-type": (value, isNegated) => equals("dstType", value.toLowerCase(), isNegated),
  "--ctorigdst": address("originalDst"),
  "--ctorigdstport": ports("originalDstPort"),
  "--ctorigsrc": address("src"),
  "--ctstate": words("ct-state"),
  "--ctdir": words("ct-direction"),
  "--ctstatus": words("ct-status"),
  "--state": words("ct-state"),
  "--mark": mark("mark"),
  // Of rpfilter: answers would go out elsewhere.
  "--invert": () => equals("returnLink", "", false),
  "--validmark": () => ASIDE,
  "--loose": () => ASIDE,
  // First packets of flows have no routing header.
  "--rt-type": (_, isNegated) => (isNegated ? undefined : NEVER),
  "--comment": () => ASIDE,
  "--mode": (value) => (value === "random" ? ASIDE : undefined),
  "--probability": (value, isNegated) => {
    const probability = Number(value);
    return { kind: "chance", probability: isNegated ? 1 - probability : probability };
  },
};

const PROTOCOL_NAMES: Readonly<Record<string, string>> = { "6": "tcp", "17": "udp", "132": "sctp" };

function protocolName(text: string): string {
  return PROTOCOL_NAMES[text] ?? text;
}

function compare(field: PacketField, pattern: Pattern, isNegated: boolean): Step {
  const left: Expression = { kind: "field", field };
  return { kind: "match", left, right: { kind: "pattern", pattern }, isNegated };
}

function equals(field: PacketField, value: string, isNegated: boolean): Step {
  return compare(field, { kind: "value", value }, isNegated);
}

function address(field: PacketField): MatchParser {
  return (value, isNegated) => {
    const cidr = parseCidr(value);
    return cidr && compare(field, { kind: "network", cidr }, isNegated);
  };
}

/** `veth+` stands for all names that begin so. */
function device(field: PacketField): MatchParser {
  return (value, isNegated) =>
    value.endsWith("+")
      ? compare(field, { kind: "beginning", text: value.slice(0, -1) }, isNegated)
      : equals(field, value, isNegated);
}

/** `80`, `8000:8080`, `80,443`. */
function ports(field: PacketField): MatchParser {
  return (value, isNegated) => {
    const patterns = value.split(",").map((part): Pattern => {
      const [from = "", to = from] = part.split(":");
      return { kind: "range", from: Number(from), to: Number(to) };
    });
    return compare(field, { kind: "any-of", patterns }, isNegated);
  };
}

function words(field: WordsField): MatchParser {
  return (value, isNegated) => ({
    kind: "has-any",
    field,
    words: value.toLowerCase().split(","),
    isNegated,
  });
}

const ALL_BITS = 0xffff_ffff;

/** `0x4000/0x4000`: value, then which bits count. */
function mark(field: PacketField): MatchParser {
  return (value, isNegated) => {
    const [wanted = 0, mask = ALL_BITS] = value.split("/").map(Number);
    return compareBits(field, mask, wanted, isNegated);
  };
}

function compareBits(field: PacketField, mask: number, wanted: number, isNegated: boolean): Step {
  const left: Expression = {
    kind: "bits",
    operator: "&",
    left: { kind: "field", field },
    right: { kind: "constant", value: mask },
  };
  const pattern: Pattern = { kind: "value", value: wanted };
  return { kind: "match", left, right: { kind: "pattern", pattern }, isNegated };
}

/** In the order of their bits. */
const TCP_FLAGS: readonly string[] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG"];

/** `--tcp-flags FIN,SYN,RST,ACK SYN`: those that count, then those of them that it has. */
export function tcpFlags(counting: string, wanted: string, isNegated: boolean): Step {
  return compareBits("tcpFlags", flagBits(counting), flagBits(wanted), isNegated);
}

function flagBits(text: string): number {
  if (text === "ALL") return flagBits(TCP_FLAGS.join(","));
  const names = text.split(",");
  return TCP_FLAGS.reduce((bits, name, index) => bits | (names.includes(name) ? 1 << index : 0), 0);
}

/** `connmark` names its value as `mark` does. */
export const connectionMark: MatchParser = mark("connectionMark");
