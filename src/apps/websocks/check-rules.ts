import { parseTargetRule, targetRuleForm } from "../../core/model/target-rules.ts";

/** @param problems gets what is wrong with the rules of an option, in words */
export function checkRules(
  flag: string,
  rules: readonly string[],
  words: readonly string[],
  problems: string[],
): void {
  for (const rule of rules) {
    if (parseTargetRule(rule, words) !== undefined) continue;
    problems.push(`${flag}: "${rule}" is not valid; expected ${targetRuleForm(words)}`);
  }
}
