import { expect, test } from "vitest";
import { OWN_RULES } from "./own-rules.ts";

test.each([
  ["ip", "portolan", true],
  ["ip6", "portolan", true],
  ["inet", "portolan", false],
  ["netdev", "portolan", false],
  ["ip", "filter", false],
  ["ip", "portolan-2", false],
] as const)("table %s %s is ours: %s", (family, table, isOwn) => {
  expect(OWN_RULES.isOwnTable({ family, table })).toBe(isOwn);
});

test("no rule of iptables is ours", () => {
  const hook = { table: "filter", name: "FORWARD" };
  expect(OWN_RULES.isOwnRule(hook, "-j KUBE-FORWARD")).toBe(false);
  expect(OWN_RULES.isOwnRule(hook, "-j portolan")).toBe(false);
});
