import type { Expression, Step, WordsField } from "../ruleset.ts";
import { asList, asObject, asText, tagOf } from "./json.ts";
import { parseContainerRef, parseVerdict } from "./parse-container.ts";
import { parseExpression, parseField, type RulePlace, typeOf } from "./parse-expression.ts";
import { parsePattern } from "./parse-value.ts";

/** What changes nothing of the packet that is on its way. */
const ASIDE: ReadonlySet<string> = new Set(["counter", "log", "set"]);

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
  return step ?? { kind: "unknown", text: typeof json === "string" ? json : JSON.stringify(json) };
}

type Parser = (body: Readonly<Record<string, unknown>>, place: RulePlace) => Step | undefined;

const parsers: Readonly<Record<string, Parser>> = {
  match: parseMatch,
  mangle: (body, place) => {
    const { field, type } = parseField(body["key"]) ?? {};
    if (field !== "mark" && field !== "priority") return undefined;
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
};

function optional(json: unknown, place: RulePlace): Expression | undefined {
  return json === undefined ? undefined : parseExpression(json, place);
}

const WORDS: Readonly<Record<string, WordsField>> = { state: "ct-state", status: "ct-status" };

function parseMatch(body: Readonly<Record<string, unknown>>, place: RulePlace): Step | undefined {
  const { left, right, op } = body;
  const { tag, body: inner } = tagOf(left);
  const words = tag === "ct" ? WORDS[asText(asObject(inner)["key"])] : undefined;
  if (words !== undefined) return parseWords(words, right, asText(op));
  if (op !== "==" && op !== "!=") return undefined;
  const isNegated = op === "!=";
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
