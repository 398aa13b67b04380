import { type Family, familyOf } from "../../../core/model/address.ts";
import type { Protocol } from "../../../core/model/common.ts";

/** One rule, without the chain that it stands in; as `iptables-save` writes it. */
export interface RuleFields {
  readonly source?: string;
  readonly notSource?: string;
  readonly destination?: string;
  readonly inInterface?: string;
  readonly notInInterface?: string;
  readonly protocol?: Protocol;
  readonly comment?: string;
  /** Further matches, such as `-m addrtype --src-type LOCAL`. */
  readonly matches?: readonly string[];
  /** Destination port; with a protocol only. */
  readonly port?: number;
  /** A chain, or a target with its options. */
  readonly target: string;
}

/** Where a comment ends for the kernel (`XT_MAX_COMMENT_LEN`). */
const MAX_COMMENT_LENGTH = 255;
const HOST_BITS: Readonly<Record<Family, number>> = { v4: 32, v6: 128 };

/** By concatenation: it is done for each of a hundred thousand rules. */
export function renderRule(fields: RuleFields): string {
  const { source, notSource, destination, protocol, comment, port } = fields;
  const { inInterface, notInInterface, matches, target } = fields;
  let rule = "";
  // Everyone: iptables-save does not print it.
  if (source !== undefined && !source.endsWith("/0")) rule += `-s ${source} `;
  if (notSource !== undefined) rule += `! -s ${notSource} `;
  if (destination !== undefined) rule += `-d ${destination} `;
  if (inInterface !== undefined) rule += `-i ${inInterface} `;
  if (notInInterface !== undefined) rule += `! -i ${notInInterface} `;
  if (protocol !== undefined) rule += `-p ${TRANSPORTS[protocol]} `;
  if (matches !== undefined) for (const match of matches) rule += `${match} `;
  if (port !== undefined && protocol !== undefined) {
    rule += `-m ${TRANSPORTS[protocol]} --dport ${port} `;
  }
  // The kernel asks a comment, too, whether it matches: behind all that may have said no.
  if (comment !== undefined) rule += `-m comment --comment "${commentText(comment)}" `;
  return `${rule}-j ${target}`;
}

const TRANSPORTS: Readonly<Record<Protocol, string>> = { TCP: "tcp", UDP: "udp", SCTP: "sctp" };

/** Names of objects are free text, and a rule is a line of words: what could end it is replaced. */
function commentText(text: string): string {
  return text.replace(/[^\x20-\x7e]|["'`\\$]/g, "?").slice(0, MAX_COMMENT_LENGTH);
}

const COMMENT = /-m comment --comment (?:"(?:[^"\\]|\\.)*"|\S+) /;
const COMMENTS = new RegExp(COMMENT, "g");

/** The rule without its comment, which decides nothing: what two rules are compared by. */
export function bareRule(rule: string): string {
  return rule.includes("--comment") ? rule.replace(COMMENT, "") : rule;
}

/** The same for a text of several rules. */
export function bareText(text: string): string {
  return text.includes("--comment") ? text.replace(COMMENTS, "") : text;
}

/** `10.0.0.1/32`, as rules name one address. */
export function hostNetwork(ip: string): string {
  return `${ip}/${HOST_BITS[familyOf(ip)]}`;
}

/** Kernel and tools hold a probability as 31 bits: what is written is what is read back. */
const PROBABILITY_STEPS = 2 ** 31;
const PROBABILITY_DECIMALS = 11;

export function randomMatch(probability: number): string {
  const kept = Math.round(probability * PROBABILITY_STEPS) / PROBABILITY_STEPS;
  return `-m statistic --mode random --probability ${kept.toFixed(PROBABILITY_DECIMALS)}`;
}

export const FROM_THIS_NODE = "-m addrtype --src-type LOCAL";

const REJECT: Readonly<Record<Family, string>> = {
  v4: "REJECT --reject-with icmp-port-unreachable",
  v6: "REJECT --reject-with icmp6-port-unreachable",
};
/** The kernel sends few ICMP messages to one client, and TCP over IPv6 does not give up by the first. */
const RESET = "REJECT --reject-with tcp-reset";

/**
 * The target for what has no endpoint: told at once, or told nothing.
 * @param protocol of all packets that the rule matches; undefined: several
 */
export function refusalTarget(
  refusal: "reject" | "drop",
  family: Family,
  protocol: Protocol | undefined,
): string {
  if (refusal === "drop") return "DROP";
  return protocol === "TCP" ? RESET : REJECT[family];
}
