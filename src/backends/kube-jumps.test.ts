import { describe, expect, test } from "vitest";
import type { ChainId } from "../platform/linux/iptables/chain-id.ts";
import { isKubeJump } from "./kube-jumps.ts";
import { KUBE_PROXY_JUMPS } from "./kube-proxy-jumps.fixture.ts";

test.each(KUBE_PROXY_JUMPS)("kube-proxy's at %s: %s", (hook, rule) => {
  expect(isKubeJump(hook, rule)).toBe(true);
});

/** Of versions that had no chains for all calls of this node. */
const EARLIER: readonly (readonly [ChainId, string])[] = [
  ["filter FORWARD", '-m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD'],
  [
    "filter OUTPUT",
    '-m comment --comment "kubernetes externally-visible service portals" -m conntrack --ctstate NEW -j KUBE-EXTERNAL-SERVICES',
  ],
  ["nat PREROUTING", '-m comment --comment "kubernetes service portals" -j KUBE-SERVICES'],
];

test.each(EARLIER)("those of an earlier version at %s: %s", (hook, rule) => {
  expect(isKubeJump(hook, rule)).toBe(true);
});

describe("of others are", () => {
  const others: readonly (readonly [ChainId, string])[] = [
    ["nat PREROUTING", "-s 1.2.3.4/32 -j KUBE-SERVICES"],
    ["nat PREROUTING", "! -d 10.0.0.0/8 -j KUBE-SERVICES"],
    ["nat PREROUTING", "-i eth1 -j KUBE-SERVICES"],
    ["nat PREROUTING", "-p tcp -m tcp --dport 80 -j KUBE-SERVICES"],
    ["nat PREROUTING", '-s 1.2.3.4/32 -m comment --comment "mine" -j KUBE-SERVICES'],
    ["nat POSTROUTING", "-s 5.6.7.8/32 -j KUBE-POSTROUTING"],
    ["filter FORWARD", "-m conntrack --ctstate INVALID,NEW -j KUBE-FORWARD"],
    ["filter FORWARD", "-m conntrack ! --ctstate NEW -j KUBE-FORWARD"],
    ["filter FORWARD", "-m mark --mark 0x1 -j KUBE-FORWARD"],
    ["filter INPUT", "-g KUBE-NODEPORTS"],
    ["filter INPUT", "-j ACCEPT"],
    ["filter INPUT", '-m comment --comment "then -j KUBE-SERVICES" -j ACCEPT'],
    ["filter INPUT", ""],
    // Nobody's hooks lead there: only rules of services do.
    ["nat PREROUTING", "-j KUBE-MARK-MASQ"],
    ["nat PREROUTING", "-j KUBE-SVC-NPX46M4PTMTKRN6Y"],
    // It has the name of ours, in a table where none of ours is.
    ["mangle PREROUTING", "-j KUBE-SERVICES"],
  ];
  test.each(others)("at %s: %s", (hook, rule) => {
    expect(isKubeJump(hook, rule)).toBe(false);
  });
});
