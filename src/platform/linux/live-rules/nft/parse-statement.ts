import type { Expression, Step, WordsField } from "../ruleset.ts";
import { asList, asObject, asText, tagOf } from "./json.ts";
import { parseContainerRef, parseVerdict } from "./parse-container.ts";
import { parseExpression, parseField, type RulePlace, typeOf } from "./parse-expression.ts";
import { parsePattern, parseValue } from "./parse-value.ts";

/** What changes nothing of the packet that is on its way. */
const ASIDE: ReadonlySet<string> = new Set([
  "counter",
  "ct expectation",
  "ct helper",
  "ct timeout",
  "dup",
  "flow",
  "log",
  "set",
]);

/** What may be unknown of these is only whether they match. */
const QUESTIONS: ReadonlySet<string> = new Set(["ct count", "limit", "match", "quota"]);

/** Fields that no rule here looks at, and nobody else on this machine. */
const ASIDE_FIELDS: ReadonlySet<string> = new Set(["dscp", "ecn", "hoplimit", "nftrace", "ttl"]);

/** What `nft` has no JSON for: it writes to a map, which a later packet may read. */
const MAP_STATEMENT = /^(add|update|delete) @/;

/** One statement of a rule. What is not known becomes a step that says so. */
export function parseStatement(json: unknown, place: RulePlace): Step {
  if (typeof json === "string" && MAP_STATEMENT.test(json)) return { kind: "aside" };
  const { tag, body } = tagOf(json);
  if (ASIDE.has(tag)) return { kind: "aside" };
  const verdict = parseVerdict(json, place);
  if (verdict !== undefined) return { kind: "verdict", verdict };
  const inner = asObject(body);
  const step = parsers[tag]?.(inner, place);
  if (step !== undefined) return step;
  const text = place.rule ?? (typeof json === "string" ? json : JSON.stringify(json));
  return { kind: "unknown", text, isQuestion: QUESTIONS.has(tag) };
}

type Parser = (body: Readonly<Record<string, unknown>>, place: RulePlace) => Step | undefined;

const parsers: Readonly<Record<string, Parser>> = {
  match: parseMatch,
  mangle: (body, place) => {
    if (isAside(body["key"])) return { kind: "aside" };
    const { field, type } = parseField(body["key"]) ?? {};
    if (field !== "mark" && field !== "priority" && field !== "connectionMark") return undefined;
    return { kind: "assign", field, value: parseExpression(body["value"], place, type) };
  },
  vmap: (body, place) => ({
    kind: "verdict-map",
    key: parseExpression(body["key"], place),
    container: parseContainerRef(body["data"], place, typeOf(body["key"])),
  }),
  dnat: (body, place) => ({
    kind: "translate-destination",
    address: optional(body["addr"], place),
    port: optional(body["port"], place),
  }),
  redirect: (body, place) => ({
    kind: "translate-destination",
    address: undefined,
    port: optional(body["port"], place),
  }),
  snat: (body, place) => ({ kind: "translate-source", address: optional(body["addr"], place) }),
  masquerade: () => ({ kind: "translate-source", address: undefined }),
  reject: (body) => ({
    kind: "reject",
    protocol: body["type"] === "tcp reset" ? "tcp" : undefined,
  }),
  notrack: () => ({ kind: "untrack" }),
};

function isAside(key: unknown): boolean {
  const { tag, body } = tagOf(key);
  const inner = asObject(body);
  return tag === "tcp option" || ASIDE_FIELDS.has(asText(inner["field"] ?? inner["key"]));
}

function optional(json: unknown, place: RulePlace): Expression | undefined {
  return json === undefined ? undefined : parseExpression(json, place);
}

const WORDS: Readonly<Record<string, WordsField>> = { state: "ct-state", status: "ct-status" };

function parseMatch(body: Readonly<Record<string, unknown>>, place: RulePlace): Step | undefined {
  const { left, right, op } = body;
  const { tag, body: inner } = tagOf(left);
  const words = tag === "ct" ? WORDS[asText(asObject(inner)["key"])] : undefined;
  if (words !== undefined) return parseWords(words, right, asText(op));
  if (tag === "payload" && op === "in") return parseFlags(left, right, place);
  if (op !== "==" && op !== "!=") return undefined;
  const isNegated = op === "!=";
  if (tag === "fib" && typeof right === "boolean") {
    return parseReturnLink(asObject(inner), right === isNegated);
  }
  const expression = parseExpression(left, place);
  if (typeof right === "string" && right.startsWith("@")) {
    const container = parseContainerRef(right, place, undefined);
    return { kind: "match", left: expression, right: { kind: "container", container }, isNegated };
  }
  const pattern = parsePattern(right, typeOf(left));
  if (pattern === undefined) return undefined;
  return { kind: "match", left: expression, right: { kind: "pattern", pattern }, isNegated };
}

/** `ct state new,related`, `ct status ! dnat`, `ct state { new, related }`. */
function parseWords(field: WordsField, right: unknown, op: string): Step | undefined {
  const { tag, body } = tagOf(right);
  const list = tag === "set" ? asList(body) : Array.isArray(right) ? right : [right];
  const words = list.filter((word) => typeof word === "string");
  const isKnown = words.length === list.length && ["in", "==", "!", "!="].includes(op);
  if (!isKnown) return undefined;
  return { kind: "has-any", field, words, isNegated: op === "!" || op === "!=" };
}

/** `tcp flags syn,ack`: whether it has any of them. */
function parseFlags(left: unknown, right: unknown, place: RulePlace): Step | undefined {
  const type = typeOf(left);
  const value = type === "tcp_flag" ? parseValue(right, type) : undefined;
  if (value === undefined) return undefined;
  return {
    kind: "match",
    left: {
      kind: "bits",
      operator: "&",
      left: parseExpression(left, place),
      right: { kind: "constant", value },
    },
    right: { kind: "pattern", pattern: { kind: "value", value: 0 } },
    isNegated: true,
  };
}

/** `fib saddr . iif oif missing`: whether answers would go out elsewhere. */
function parseReturnLink(
  { result, flags }: Readonly<Record<string, unknown>>,
  isMissing: boolean,
): Step | undefined {
  const asked = asList(flags);
  if (result !== "oif" || !asked.includes("saddr") || !asked.includes("iif")) return undefined;
  return {
    kind: "match",
    left: { kind: "field", field: "returnLink" },
    right: { kind: "pattern", pattern: { kind: "value", value: "" } },
    isNegated: !isMissing,
  };
}
