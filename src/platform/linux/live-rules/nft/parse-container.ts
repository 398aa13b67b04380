import { createContainer } from "../create-container.ts";
import type { ContainerRef, LiveElement, RuleVerdict } from "../ruleset.ts";
import { asList, asObject, asText, tagOf } from "./json.ts";
import type { RulePlace } from "./parse-expression.ts";
import { parsePattern, parseValue, typesOf, type ValueType, withoutElem } from "./parse-value.ts";

/** What things of a table are called here: `ip portolan services`. */
export function nameIn({ family, table }: RulePlace, name: string): string {
  return `${family} ${table} ${name}`;
}

/** `@services`, or the elements themselves. */
export function parseContainerRef(
  json: unknown,
  place: RulePlace,
  keyType: ValueType,
): ContainerRef {
  if (typeof json === "string") return nameIn(place, json.replace(/^@/, ""));
  const elements = asList(asObject(json)["set"]);
  return createContainer("in the rule", parseElements(elements, place, keyType, undefined));
}

/** Undefined stands for an element that is not understood. */
export function parseElements(
  elements: readonly unknown[],
  place: RulePlace,
  keyType: ValueType,
  dataType: ValueType,
): readonly (LiveElement | undefined)[] {
  return elements.map((json) => parseElement(json, place, keyType, dataType));
}

/** The type of a container's keys, as its declaration says it. */
export function keyTypeOf(declaration: unknown): ValueType {
  return typesOf(declaration).join(" . ");
}

function parseElement(
  json: unknown,
  place: RulePlace,
  keyType: ValueType,
  dataType: ValueType,
): LiveElement | undefined {
  const isPair = Array.isArray(json);
  const [key, behind] = isPair ? asList(json) : [json, undefined];
  const pattern = parsePattern(withoutElem(key), keyType);
  if (pattern === undefined) return undefined;
  if (!isPair) return { pattern };
  const verdict = parseVerdict(behind, place);
  if (verdict !== undefined) return { pattern, verdict };
  const value = parseValue(behind, dataType);
  return value === undefined ? undefined : { pattern, value };
}

/** Undefined where it is none. */
export function parseVerdict(json: unknown, place: RulePlace): RuleVerdict | undefined {
  const { tag, body } = tagOf(json);
  switch (tag) {
    case "accept":
    case "drop":
    case "return":
    case "continue":
      return { kind: tag };
    case "jump":
    case "goto":
      return { kind: tag, chain: nameIn(place, asText(asObject(body)["target"])) };
    default:
      return undefined;
  }
}
