import fc from "fast-check";
import { expect, test } from "vitest";
import type { Protocol } from "../core/model/common.ts";
import { listenerSchema } from "../core/model/listener.ts";
import {
  type Access,
  type SecurityRule,
  securityGroupSchema,
} from "../core/model/security-group.ts";
import { listenerAccess } from "../core/route/access.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import { SecurityGroup } from "./security-group.ts";

function rule(network: string, access: Access, more: Partial<SecurityRule> = {}): SecurityRule {
  return { name: network, network, protocol: "TCP", minPort: 1, maxPort: 65_535, access, ...more };
}

test("the longest network decides, then the default", () => {
  const group = new SecurityGroup({
    defaultAccess: "deny",
    rules: [
      rule("10.0.0.0/8", "allow"),
      rule("10.1.0.0/16", "deny"),
      rule("10.1.2.3/32", "allow"),
      rule("fd00::/8", "allow"),
    ],
  });
  const allows = (client: string) => group.allows(client, "TCP", 80);
  expect(allows("10.9.9.9")).toBe(true);
  expect(allows("10.1.9.9")).toBe(false);
  expect(allows("10.1.2.3")).toBe(true);
  expect(allows("11.0.0.1")).toBe(false);
  expect(allows("fd12::1")).toBe(true);
  expect(allows("fe80::1")).toBe(false);
  expect(allows("/run/client.sock")).toBe(false);
});

test("only rules for the protocol and the port count, also where their network is longer", () => {
  const group = new SecurityGroup({
    defaultAccess: "allow",
    rules: [
      rule("10.0.0.0/8", "deny", { minPort: 80, maxPort: 90 }),
      rule("10.1.0.0/16", "allow", { protocol: "UDP" }),
      rule("0.0.0.0/0", "deny", { minPort: 22, maxPort: 22 }),
    ],
  });
  expect(group.allows("10.1.1.1", "TCP", 80)).toBe(false);
  expect(group.allows("10.1.1.1", "TCP", 90)).toBe(false);
  expect(group.allows("10.1.1.1", "TCP", 91)).toBe(true);
  expect(group.allows("10.1.1.1", "UDP", 80)).toBe(true);
  expect(group.allows("11.1.1.1", "TCP", 22)).toBe(false);
});

test("of rules with one network the first decides", () => {
  const rules = [rule("10.0.0.0/8", "deny", { name: "first" }), rule("10.0.0.0/8", "allow")];
  const group = new SecurityGroup({ defaultAccess: "allow", rules });
  expect(group.decidingRule("10.0.0.1", "TCP", 80)?.name).toBe("first");
});

const access = fc.constantFrom<Access>("allow", "deny");
const address = fc.oneof(
  fc.tuple(fc.nat(3), fc.nat(3)).map(([a, b]) => `10.0.${a}.${b}`),
  fc.tuple(fc.nat(3), fc.nat(3)).map(([a, b]) => `fd00::${a}:${b}`),
);
const anyRule = fc
  .record({
    ip: address,
    short: fc.nat(128),
    protocol: fc.constantFrom<Protocol>("TCP", "UDP"),
    ports: fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 })),
    access,
  })
  .map(({ ip, short, protocol, ports: [a, b], access: word }) => ({
    name: "rule",
    network: `${ip}/${Math.max(0, (ip.includes(":") ? 128 : 32) - short)}`,
    protocol,
    minPort: Math.min(a, b),
    maxPort: Math.max(a, b),
    access: word,
  }));

test("it says what the reference says", () => {
  const state = new GlobalStore().state();
  const port = fc.integer({ min: 1, max: 5 });
  fc.assert(
    fc.property(
      access,
      fc.array(anyRule),
      address,
      port,
      (defaultAccess, rules, src, listenPort) => {
        const object = securityGroupSchema.parse({
          kind: "SecurityGroup",
          name: "sg",
          defaultAccess,
          rules,
        });
        const listener = listenerSchema.parse({
          kind: "Listener",
          name: "web",
          address: "10.9.9.9",
          port: listenPort,
          service: "default/web",
          securityGroup: "default/sg",
        });
        const global = { ...state, securityGroups: new Map([["default/sg", object]]) };
        const packet = {
          protocol: "TCP",
          src,
          dst: "10.9.9.9",
          dstPort: listenPort,
          from: "outside",
        } as const;
        const expected = listenerAccess(global, listener, packet)?.access;
        const allows = new SecurityGroup(object).allows(src, "TCP", listenPort);
        expect(allows ? "allow" : "deny").toBe(expected);
      },
    ),
  );
});

test("a rule without a protocol is for all of them", () => {
  const { defaultAccess, rules } = securityGroupSchema.parse({
    kind: "SecurityGroup",
    name: "office",
    defaultAccess: "allow",
    rules: [{ name: "no", network: "10.0.0.0/8", access: "deny" }],
  });
  const group = new SecurityGroup({ defaultAccess, rules });
  expect(group.allows("10.1.1.1", "TCP", 80)).toBe(false);
  expect(group.allows("10.1.1.1", "UDP", 53)).toBe(false);
  expect(group.allows("11.1.1.1", "UDP", 53)).toBe(true);
});
