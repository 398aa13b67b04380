import { type Cidr, canonicalIp, cidrContains, familyOf } from "../../../core/model/address.ts";
import { V6_BYTES, writeIp } from "../../../wire/ip-bytes.ts";

/** What a packet carries and rules compare: addresses and names as text, numbers, several at once. */
export type Value = string | number | readonly Value[];

/** What a value is compared with. */
export type Pattern =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "network"; readonly cidr: Cidr }
  /** Both ends belong to it. */
  | { readonly kind: "range"; readonly from: Value; readonly to: Value }
  /** What names of interfaces begin with. */
  | { readonly kind: "beginning"; readonly text: string }
  | { readonly kind: "tuple"; readonly parts: readonly Pattern[] }
  | { readonly kind: "any-of"; readonly patterns: readonly Pattern[] }
  | { readonly kind: "anything" };

export function matchesPattern(pattern: Pattern, value: Value): boolean {
  switch (pattern.kind) {
    case "anything":
      return true;
    case "value":
      return sameValue(pattern.value, value);
    case "network":
      return typeof value === "string" && isIp(value) && cidrContains(pattern.cidr, value);
    case "range":
      return isBetween(value, pattern.from, pattern.to);
    case "beginning":
      return typeof value === "string" && value.startsWith(pattern.text);
    case "any-of":
      return pattern.patterns.some((each) => matchesPattern(each, value));
    case "tuple":
      return (
        typeof value === "object" &&
        value.length === pattern.parts.length &&
        pattern.parts.every((part, index) => matchesPattern(part, value[index] ?? ""))
      );
  }
}

function sameValue(a: Value, b: Value): boolean {
  return valueKey(a) === valueKey(b);
}

/** Equal for equal values, and for no others. */
export function valueKey(value: Value): string {
  return JSON.stringify(value);
}

/** `10.96.0.1 . tcp . 80`. */
export function valueText(value: Value): string {
  return typeof value === "object" ? value.map(valueText).join(" . ") : String(value);
}

export function patternText(pattern: Pattern): string {
  switch (pattern.kind) {
    case "anything":
      return "*";
    case "value":
      return valueText(pattern.value);
    case "network":
      return pattern.cidr.text;
    case "range":
      return `${valueText(pattern.from)}-${valueText(pattern.to)}`;
    case "beginning":
      return `${pattern.text}*`;
    case "any-of":
      return `{ ${pattern.patterns.map(patternText).join(", ")} }`;
    case "tuple":
      return pattern.parts.map(patternText).join(" . ");
  }
}

function isIp(text: string): boolean {
  return canonicalIp(text) !== undefined;
}

function isBetween(value: Value, from: Value, to: Value): boolean {
  if (typeof value === "number") return value >= Number(from) && value <= Number(to);
  if (typeof value !== "string" || typeof from !== "string" || typeof to !== "string") return false;
  if (!isIp(value) || familyOf(value) !== familyOf(from)) return false;
  const [low, here, high] = [from, value, to].map(ipOrder);
  return (low ?? "") <= (here ?? "") && (here ?? "") <= (high ?? "");
}

/** Texts in the order of the addresses of one family. */
function ipOrder(ip: string): string {
  const bytes = new Uint8Array(V6_BYTES);
  const length = writeIp(ip, bytes, 0);
  return Buffer.from(bytes.subarray(0, length)).toString("hex");
}
