import { expect, test } from "vitest";
import { OWN_RULES } from "./own-rules.ts";
import { JUMPS } from "./plan/jumps.ts";

const FORWARD = { table: "filter", name: "FORWARD" };

test("the jumps that it writes are its own, with other comments, too", () => {
  for (const rule of JUMPS.get("filter FORWARD") ?? []) {
    expect(OWN_RULES.isOwnRule(FORWARD, rule)).toBe(true);
  }
  const rule = "-m conntrack --ctstate NEW -m comment --comment other -j KUBE-SERVICES";
  expect(OWN_RULES.isOwnRule(FORWARD, rule)).toBe(true);
});

test.each([
  ["", FORWARD],
  ["-j ACCEPT", FORWARD],
  ["-m limit --limit 5/sec -j KUBE-FORWARD", FORWARD],
  ["-j KUBE-FORWARD", { table: "mangle", name: "FORWARD" }],
  ["-j KUBE-FORWARD", { table: "filter", name: "INPUT" }],
])("%j at another place, or of others, is not", (rule, hook) => {
  expect(OWN_RULES.isOwnRule(hook, rule)).toBe(false);
});

test("no table of nftables is", () => {
  expect(OWN_RULES.isOwnTable({ family: "ip", table: "portolan" })).toBe(false);
});
