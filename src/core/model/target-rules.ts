import {
  fitsTarget,
  parseTargetPattern,
  TARGET_PATTERN_FORM,
  type Target,
  type TargetPattern,
} from "./target-pattern.ts";

/** What becomes of the targets that fit. */
export interface TargetRule<W extends string> {
  readonly word: W;
  readonly pattern: TargetPattern;
}

/** Reads `deny 10.0.0.0/8`; undefined where it is no rule of these words. */
export function parseTargetRule<W extends string>(
  text: string,
  words: readonly W[],
): TargetRule<W> | undefined {
  const [, first, second = ""] = /^(\S+)\s+(\S+)$/.exec(text.trim()) ?? [];
  const word = words.find((one) => one === first);
  const pattern = parseTargetPattern(second);
  return word === undefined || pattern === undefined ? undefined : { word, pattern };
}

/** What would be right, for errors. */
export function targetRuleForm(words: readonly string[]): string {
  return `${words.join(" or ")} with a target: ${TARGET_PATTERN_FORM}`;
}

/**
 * The word of the first rule that fits; `otherwise` where none does. Undefined where a rule comes first
 * that only the address of the target can tell, and it is not known yet.
 */
export function judgeTarget<W extends string>(
  rules: readonly TargetRule<W>[],
  target: Target,
  otherwise: W,
): W | undefined {
  for (const { word, pattern } of rules) {
    const fits = fitsTarget(pattern, target);
    if (fits === undefined) return undefined;
    if (fits) return word;
  }
  return otherwise;
}
