import { FAMILIES, type Family } from "../../model/address.ts";
import { type Listener, listenerSchema } from "../../model/listener.ts";
import type { ModelObject } from "../../model/object.ts";
import { type Access, securityGroupSchema } from "../../model/security-group.ts";
import { buildScenario, type Recipe } from "./build.ts";
import { CALLERS } from "./caller.ts";
import { expectFor } from "./expect.ts";
import { NO_SERVERS, policyFor, policyName, SPREAD, TRAFFIC_POLICIES } from "./product.ts";
import type { Expected, Scenario } from "./scenario.ts";
import { SERVICE_KEY } from "./setting.ts";
import { type Addresses, OTHER_FAMILY, TOPOLOGY } from "./topology.ts";

const { nodes, secondary, loopback, outside, listenPort } = TOPOLOGY;
const NODE = nodes["node-a"].addresses;
const ANY: Addresses = { v4: "0.0.0.0", v6: "::" };
const EVERYWHERE: Addresses = { v4: "0.0.0.0/0", v6: "::/0" };

/** Listen addresses: where they answer, for whom, and what the service's own rules make of it. */
export function listenerScenarios(): readonly Scenario[] {
  return FAMILIES.flatMap((family) => [
    ...policyScenarios(family),
    ...placeScenarios(family),
    ...accessScenarios(family),
    ...faultScenarios(family),
  ]);
}

function listener(address: string, more: Partial<Listener> = {}): Listener {
  return listenerSchema.parse({
    kind: "Listener",
    name: "front",
    address,
    port: listenPort,
    service: SERVICE_KEY,
    ...more,
  });
}

/** TCP, from outside, to `SPREAD`, which is to be reached: unless said otherwise. */
function build(
  family: Family,
  name: string,
  objects: readonly ModelObject[],
  more: Partial<Recipe> = {},
): Scenario {
  return buildScenario({
    what: [name],
    family,
    service: { type: "listen-address", protocol: "TCP" },
    servers: SPREAD.servers,
    caller: "outside",
    objects,
    expected: reached(family),
    ...more,
  });
}

function reached(family: Family): Expected {
  return expectFor(
    { type: "listen-address", trafficPolicy: "Cluster", caller: "outside" },
    SPREAD,
    family,
  );
}

function policyScenarios(family: Family): readonly Scenario[] {
  const type = "listen-address";
  return (["TCP", "UDP"] as const).flatMap((protocol) =>
    TRAFFIC_POLICIES.flatMap((trafficPolicy) =>
      CALLERS.map((caller) =>
        buildScenario({
          what: [policyName(type, trafficPolicy), SPREAD.name],
          family,
          service: { type, protocol, ...policyFor(type, trafficPolicy) },
          servers: SPREAD.servers,
          caller,
          objects: [listener(NODE[family], { mode: protocol === "UDP" ? "udp" : "tcp" })],
          expected: expectFor({ type, trafficPolicy, caller }, SPREAD, family),
        }),
      ),
    ),
  );
}

function placeScenarios(family: Family): readonly Scenario[] {
  const everywhere = [listener(ANY[family])];
  const notOurs: Partial<Recipe> = { expected: { kind: "not-ours" } };
  return [
    build(family, "on-any-address", everywhere),
    build(family, "on-any-address-to-secondary", everywhere, {
      target: { dst: secondary[family] },
    }),
    build(family, "on-any-address-to-loopback", everywhere, {
      caller: "node",
      src: loopback[family],
      target: { dst: loopback[family] },
    }),
    build(family, "on-loopback", [listener(loopback[family])], {
      caller: "node",
      src: loopback[family],
      target: { dst: loopback[family] },
    }),
    build(family, "on-any-address-to-another-node", everywhere, {
      target: { dst: nodes["node-b"].addresses[family] },
      ...notOurs,
    }),
    build(
      family,
      "on-any-address-of-the-other-family",
      [listener(ANY[OTHER_FAMILY[family]])],
      notOurs,
    ),
    build(family, "on-another-address", [listener(secondary[family])], notOurs),
    build(family, "on-another-port", [listener(NODE[family], { port: listenPort + 1 })], notOurs),
    build(family, "for-this-node", [listener(NODE[family], { node: "node-a" })]),
    build(family, "for-another-node", [listener(NODE[family], { node: "node-b" })], notOurs),
    build(family, "of-another-protocol", [listener(NODE[family], { mode: "udp" })], notOurs),
    build(family, "on-a-unix-path", [listener("/run/front.sock", { port: 0 })], notOurs),
  ];
}

interface Rule {
  readonly network: string;
  readonly access: Access;
  readonly maxPort?: number;
  readonly protocol?: "UDP";
}

function guarded(
  family: Family,
  defaultAccess: Access,
  rules: readonly Rule[],
): readonly ModelObject[] {
  const named = rules.map((rule, index) => ({ name: `rule-${index}`, ...rule }));
  return [
    listener(NODE[family], { securityGroup: "default/guard" }),
    securityGroupSchema.parse({
      kind: "SecurityGroup",
      name: "guard",
      defaultAccess,
      rules: named,
    }),
  ];
}

function accessScenarios(family: Family): readonly Scenario[] {
  const denied: Partial<Recipe> = { expected: { kind: "drop" } };
  const all = EVERYWHERE[family];
  const client = outside[family];
  const allow = (network: string, more: Partial<Rule> = {}): Rule => ({
    network,
    access: "allow",
    ...more,
  });
  const deny = (network: string): Rule => ({ network, access: "deny" });
  return [
    build(family, "guard-allows-by-default", guarded(family, "allow", [])),
    build(family, "guard-denies-by-default", guarded(family, "deny", []), denied),
    build(family, "guard-denies-by-rule", guarded(family, "allow", [deny(all)]), denied),
    build(
      family,
      "guard-allows-by-longer-prefix",
      guarded(family, "deny", [deny(all), allow(client)]),
    ),
    build(
      family,
      "guard-rule-for-other-ports",
      guarded(family, "allow", [deny(all), allow(client, { maxPort: listenPort - 1 })]),
      denied,
    ),
    build(
      family,
      "guard-rule-for-another-protocol",
      guarded(family, "deny", [allow(all, { protocol: "UDP" })]),
      denied,
    ),
    build(
      family,
      "guard-missing",
      [listener(NODE[family], { securityGroup: "default/guard" })],
      denied,
    ),
  ];
}

function faultScenarios(family: Family): readonly Scenario[] {
  const rejected: Partial<Recipe> = { expected: { kind: "reject" } };
  const there = NODE[family];
  return [
    build(family, "no-such-service", [listener(there, { service: "default/other" })], rejected),
    build(family, "no-such-port", [listener(there, { servicePort: "other" })], rejected),
    build(family, NO_SERVERS.name, [listener(there)], { ...rejected, servers: [] }),
  ];
}
