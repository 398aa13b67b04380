import { FAMILIES, type Family } from "../../model/address.ts";
import type { LocalDetection, NodePortAddresses, RoutePolicy } from "../route-policy.ts";
import { buildScenario } from "./build.ts";
import { CALLERS, type Caller } from "./caller.ts";
import { expectEvenly, expectFor } from "./expect.ts";
import { KUBE_TYPES, policyFor, policyName, SPREAD, TRAFFIC_POLICIES } from "./product.ts";
import type { Scenario } from "./scenario.ts";
import { OTHER_FAMILY, TOPOLOGY } from "./topology.ts";

/** What an operator sets, and what the rule of the scenarios has to know of it. */
interface Setting {
  readonly name: string;
  readonly policy: (family: Family) => Partial<RoutePolicy>;
  readonly detectsLocal: boolean;
  readonly masqueradeAll: boolean;
}

function detection(
  name: string,
  localDetection: (family: Family) => LocalDetection,
  detectsLocal: boolean,
): Setting {
  const policy = (family: Family) => ({ localDetection: localDetection(family) });
  return { name, policy, detectsLocal, masqueradeAll: false };
}

const { clusterCidrs, nodes, secondary, loopback } = TOPOLOGY;

const SETTINGS: readonly Setting[] = [
  detection("detect-none", () => ({ mode: "none" }), false),
  detection("detect-by-node-cidr", () => ({ mode: "node-cidr" }), true),
  detection("detect-by-interface", () => ({ mode: "interface" }), true),
  detection(
    "detect-in-the-other-family",
    (family) => ({ mode: "cluster-cidr", cidrs: [clusterCidrs[OTHER_FAMILY[family]]] }),
    false,
  ),
  {
    name: "masquerade-all",
    policy: () => ({ masqueradeAll: true }),
    detectsLocal: true,
    masqueradeAll: true,
  },
];

/** What an operator sets x address type x traffic policy x caller x family. */
export function operatorScenarios(): readonly Scenario[] {
  return [
    ...SETTINGS.flatMap((setting) =>
      FAMILIES.flatMap((family) => settingScenarios(setting, family)),
    ),
    ...NODE_PORT_ROWS.flatMap((row) =>
      FAMILIES.flatMap((family) => nodePortScenarios(row, family)),
    ),
  ];
}

function settingScenarios(setting: Setting, family: Family): readonly Scenario[] {
  const { detectsLocal, masqueradeAll } = setting;
  return KUBE_TYPES.flatMap((type) =>
    TRAFFIC_POLICIES.flatMap((trafficPolicy) =>
      CALLERS.map((caller) =>
        buildScenario({
          what: [policyName(type, trafficPolicy), setting.name],
          family,
          service: { type, protocol: "TCP", ...policyFor(type, trafficPolicy) },
          servers: SPREAD.servers,
          caller,
          policy: setting.policy(family),
          expected: expectFor(
            { type, trafficPolicy, caller, detectsLocal, masqueradeAll },
            SPREAD,
            family,
          ),
        }),
      ),
    ),
  );
}

/** Where node ports answer: written by hand. */
interface NodePortRow {
  readonly name: string;
  readonly addresses: (family: Family) => NodePortAddresses;
  readonly answersOn: readonly NodeAddress[];
}

type NodeAddress = "primary" | "secondary" | "loopback";

const NODE_PORT_ROWS: readonly NodePortRow[] = [
  { name: "node-ports-on-primary", addresses: () => "primary", answersOn: ["primary"] },
  { name: "node-ports-on-all", addresses: () => "all", answersOn: ["primary", "secondary"] },
  { name: "node-ports-on-localhost", addresses: () => "localhost", answersOn: ["loopback"] },
  {
    name: "node-ports-on-one-network",
    addresses: (family) => [secondary[family]],
    answersOn: ["secondary"],
  },
  {
    name: "node-ports-on-every-network",
    addresses: (family) => [family === "v4" ? "0.0.0.0/0" : "::/0"],
    answersOn: ["primary", "secondary"],
  },
];

function nodePortScenarios(row: NodePortRow, family: Family): readonly Scenario[] {
  const places: readonly (readonly [NodeAddress, string, Caller])[] = [
    ["primary", nodes["node-a"].addresses[family], "outside"],
    ["secondary", secondary[family], "outside"],
    ["loopback", loopback[family], "node"],
  ];
  return places.map(([place, dst, caller]) =>
    buildScenario({
      what: [row.name, `to-${place}`],
      family,
      service: { type: "node-port", protocol: "TCP" },
      servers: SPREAD.servers,
      caller,
      ...(place === "loopback" && { src: dst }),
      target: { dst },
      policy: { nodePortAddresses: row.addresses(family) },
      expected: row.answersOn.includes(place)
        ? expectEvenly(SPREAD.cluster, family, () => true)
        : { kind: "not-ours" },
    }),
  );
}
