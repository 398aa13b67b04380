import { expect, test } from "vitest";
import { judgeTarget, parseTargetRule, type TargetRule } from "./target-rules.ts";

const WORDS = ["allow", "deny"] as const;

function rules(...texts: readonly string[]): readonly TargetRule<"allow" | "deny">[] {
  return texts.map((text) => {
    const rule = parseTargetRule(text, WORDS);
    if (rule === undefined) throw new Error(`no rule: ${text}`);
    return rule;
  });
}

test.each([
  ["deny 10.0.0.0/8", { name: "", ip: "10.1.1.1", port: 80 }, "deny"],
  ["deny 10.0.0.0/8", { name: "", ip: "11.1.1.1", port: 80 }, "allow"],
  ["deny 10.0.0.0/8", { name: "a.example", ip: "10.1.1.1", port: 80 }, "deny"],
  ["deny 10.0.0.0/8", { name: "a.example", ip: "", port: 80 }, undefined],
  ["deny 10.0.0.0/8:22", { name: "", ip: "10.1.1.1", port: 80 }, "allow"],
  ["deny 10.0.0.0/8:20-25", { name: "", ip: "10.1.1.1", port: 22 }, "deny"],
  ["deny fd00::/8", { name: "", ip: "fd00::1", port: 22 }, "deny"],
  ["deny [fd00::/8]:22", { name: "", ip: "fd00::1", port: 23 }, "allow"],
  ["deny [fd00::/8]:22", { name: "", ip: "fd00::1", port: 22 }, "deny"],
  ["deny a.example", { name: "a.example", ip: "", port: 1 }, "deny"],
  ["deny a.example", { name: "b.a.example", ip: "", port: 1 }, "allow"],
  ["deny *.a.example", { name: "b.a.example", ip: "", port: 1 }, "deny"],
  ["deny *.a.example", { name: "a.example", ip: "", port: 1 }, "allow"],
  ["deny *.a.example", { name: "ba.example", ip: "", port: 1 }, "allow"],
  ["deny .A.example", { name: "a.example", ip: "", port: 1 }, "deny"],
  // Other words for the same machine are no way round a rule.
  ["deny 127.0.0.0/8", { name: "", ip: "::ffff:7f00:1", port: 1 }, "deny"],
  ["deny 127.0.0.0/8", { name: "a.example", ip: "::ffff:127.0.0.1", port: 1 }, "deny"],
  ["deny 127.0.0.0/8", { name: "", ip: "::ffff:a00:1", port: 1 }, "allow"],
  ["deny 127.0.0.0/8", { name: "", ip: "0.0.0.0", port: 1 }, "deny"],
  ["deny 127.0.0.0/8", { name: "", ip: "::ffff:0:0", port: 1 }, "deny"],
  ["deny 0.0.0.0", { name: "", ip: "0.0.0.0", port: 1 }, "deny"],
  ["deny ::1", { name: "", ip: "::", port: 1 }, "deny"],
  ["deny ::ffff:0:0/96", { name: "", ip: "::ffff:7f00:1", port: 1 }, "allow"],
  ["deny *:25", { name: "", ip: "192.0.2.1", port: 25 }, "deny"],
] as const)("%s of %o: %s", (rule, target, word) => {
  expect(judgeTarget(rules(rule), target, "allow")).toBe(word);
});

test("the first rule that fits decides", () => {
  const list = rules("allow a.example", "deny *");
  expect(judgeTarget(list, { name: "a.example", ip: "", port: 1 }, "allow")).toBe("allow");
  expect(judgeTarget(list, { name: "b.example", ip: "", port: 1 }, "allow")).toBe("deny");
});

test.each(["deny", "deny a b", "direct *", "deny 10.0.0.0/33", "deny *:70000", "deny *:9-8"])(
  "%s is none",
  (text) => {
    expect(parseTargetRule(text, WORDS)).toBeUndefined();
  },
);
