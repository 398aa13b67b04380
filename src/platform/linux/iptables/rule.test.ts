import { describe, expect, test } from "vitest";
import { bareRule, bareText, hostNetwork, randomMatch, refusalTarget, renderRule } from "./rule.ts";

test("parts stand in the order in which iptables-save prints them, and what decides nothing is last", () => {
  expect(
    renderRule({
      target: "KUBE-X",
      port: 80,
      matches: ["-m addrtype --src-type LOCAL"],
      comment: "why",
      protocol: "TCP",
      inInterface: "veth+",
      destination: "10.0.0.1/32",
      notSource: "10.244.0.0/16",
    }),
  ).toBe(
    '! -s 10.244.0.0/16 -d 10.0.0.1/32 -i veth+ -p tcp -m addrtype --src-type LOCAL -m tcp --dport 80 -m comment --comment "why" -j KUBE-X',
  );
});

describe("a comment", () => {
  test("can not end its rule, whatever names say", () => {
    const comment = 'a"b\\c\nCOMMIT\n*nat `$(x)`\u0000é';
    const rule = renderRule({ comment, target: "ACCEPT" });
    expect(rule).toBe('-m comment --comment "a?b?c?COMMIT?*nat ??(x)???" -j ACCEPT');
  });

  test("is cut where the kernel would refuse it", () => {
    const rule = renderRule({ comment: "x".repeat(300), target: "ACCEPT" });
    expect(rule).toContain(`"${"x".repeat(255)}"`);
  });

  test.each([
    ['-p tcp -m comment --comment "a b" -m tcp --dport 1 -j X', "-p tcp -m tcp --dport 1 -j X"],
    ["-m comment --comment short -j X", "-j X"],
    ['-m comment --comment "a \\"b\\" c" -j X', "-j X"],
    ["-j X", "-j X"],
  ])("does not count in %s", (rule, bare) => {
    expect(bareRule(rule)).toBe(bare);
    expect(bareText(`-A Y ${rule}\n-A Y ${rule}`)).toBe(`-A Y ${bare}\n-A Y ${bare}`);
  });
});

test("one address is a network of its own", () => {
  expect([hostNetwork("10.0.0.1"), hostNetwork("fd00::1")]).toEqual(["10.0.0.1/32", "fd00::1/128"]);
});

test("a probability is written as the kernel keeps it", () => {
  expect(randomMatch(1 / 3)).toBe("-m statistic --mode random --probability 0.33333333349");
  expect(randomMatch(0.5)).toBe("-m statistic --mode random --probability 0.50000000000");
});

test.each([
  ["v4", "TCP", "REJECT --reject-with tcp-reset"],
  ["v6", "TCP", "REJECT --reject-with tcp-reset"],
  ["v4", "UDP", "REJECT --reject-with icmp-port-unreachable"],
  ["v6", "SCTP", "REJECT --reject-with icmp6-port-unreachable"],
  ["v6", undefined, "REJECT --reject-with icmp6-port-unreachable"],
] as const)("%s and %s is refused by what its clients heed", (family, protocol, target) => {
  expect(refusalTarget("reject", family, protocol)).toBe(target);
  expect(refusalTarget("drop", family, protocol)).toBe("DROP");
});

test.each(["0.0.0.0/0", "::/0"])(
  "%s is not named, since iptables-save does not print it",
  (source) => {
    expect(renderRule({ source, target: "RETURN" })).toBe("-j RETURN");
  },
);
