import { NO_STRINGS, type StringMap } from "../../core/model/common.ts";

/** Chooses labels or annotations. */
export type KeepStrings = (map: StringMap) => StringMap;

/** Keeps the keys that one of the patterns fits; `*` in a pattern is any text. */
export function keepMatching(patterns: readonly string[]): KeepStrings {
  if (patterns.includes("*")) return (map) => map;
  if (patterns.length === 0) return () => NO_STRINGS;
  const fits = new RegExp(`^(?:${patterns.map(toExpression).join("|")})$`);
  return (map) => {
    const kept = Object.entries(map).filter(([key]) => fits.test(key));
    return kept.length === 0 ? NO_STRINGS : Object.fromEntries(kept);
  };
}

function toExpression(pattern: string): string {
  return pattern
    .split("*")
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
    .join(".*");
}
