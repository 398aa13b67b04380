import { bareRule } from "../../platform/linux/iptables/rule.ts";
import type { OwnRules } from "../../platform/linux/onlookers.ts";
import { JUMPS } from "./plan/jumps.ts";

/** All that this backend writes is in tables that it shares with others, behind jumps that are known. */
export const OWN_RULES: OwnRules = {
  isOwnTable: () => false,
  isOwnRule: ({ table, name }, rule) =>
    [...JUMPS].some(
      ([hook, jumps]) =>
        hook === `${table} ${name}` && jumps.some((jump) => bareRule(jump) === bareRule(rule)),
    ),
};
