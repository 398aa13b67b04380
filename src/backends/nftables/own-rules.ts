import type { OwnRules } from "../../platform/linux/onlookers.ts";
import { TABLE_NAME } from "./plan/table-planner.ts";

/** All that this backend writes is in two tables of its own. */
export const OWN_RULES: OwnRules = {
  isOwnTable: ({ family, table }) => table === TABLE_NAME && (family === "ip" || family === "ip6"),
  isOwnRule: () => false,
};
