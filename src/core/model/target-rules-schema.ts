import * as z from "zod";
import { parseTargetRule, targetRuleForm } from "./target-rules.ts";

/** Lists that people keep are far shorter; each connection goes through it. */
const MAX_RULES = 10_000;

/** Rules as text, each of them checked. */
export function targetRulesSchema(words: readonly string[]): z.ZodType<readonly string[]> {
  const rule = z
    .string()
    .refine((text) => parseTargetRule(text, words) !== undefined, targetRuleForm(words));
  return z.array(rule).max(MAX_RULES);
}
