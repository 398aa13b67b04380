import { FAMILIES, type Family } from "../../model/address.ts";
import type { AddressType } from "../verdict.ts";
import { buildScenario } from "./build.ts";
import { type Caller, targetOf } from "./caller.ts";
import { expectEvenly, expectFor, expectShares, type Lists } from "./expect.ts";
import { KUBE_TYPES, policyFor, policyName, SPREAD, TRAFFIC_POLICIES } from "./product.ts";
import type { Expected, Scenario } from "./scenario.ts";
import type { Server } from "./setting.ts";
import { OTHER_FAMILY, type WorkloadName } from "./topology.ts";

/** Servers that differ in more than readiness, and what that comes to: written by hand. */
interface Row extends Lists {
  readonly name: string;
  readonly servers: (family: Family) => readonly Server[];
}

type Hints = readonly [readonly string[], readonly string[], readonly string[]];

function withHints(zones: Hints, nodes: Hints): () => readonly Server[] {
  return () => [
    { workload: "web-a", hints: { zones: zones[0], nodes: nodes[0] } },
    { workload: "web-b", hints: { zones: zones[1], nodes: nodes[1] } },
    { workload: "web-c", hints: { zones: zones[2], nodes: nodes[2] } },
  ];
}

const CALLERS_OF_ROWS: readonly Caller[] = ["outside", "workload"];

const NONE: Hints = [[], [], []];
const ZONES: Hints = [["a"], ["a"], ["c"]];
const { cluster: ALL, local: OWN } = SPREAD;
const UNPLACED: Lists = { cluster: ["web-a"], local: [] };

const ROWS: readonly Row[] = [
  {
    name: "zone-hints",
    servers: withHints(ZONES, NONE),
    cluster: ["web-a", "web-b"],
    local: OWN,
  },
  {
    name: "zone-hints-for-others",
    servers: withHints([["c"], ["c"], ["d"]], NONE),
    cluster: ALL,
    local: OWN,
  },
  {
    name: "zone-hints-on-some",
    servers: withHints([["a"], [], ["c"]], NONE),
    cluster: ALL,
    local: OWN,
  },
  {
    name: "zone-hints-away-from-the-local-one",
    servers: withHints([["c"], ["a"], ["c"]], NONE),
    cluster: ["web-b"],
    local: OWN,
  },
  {
    name: "node-hints",
    servers: withHints(ZONES, [["node-a"], ["node-b"], ["node-c"]]),
    cluster: ["web-a"],
    local: OWN,
  },
  {
    name: "node-hints-for-others",
    servers: withHints(ZONES, [["node-b"], ["node-b"], ["node-c"]]),
    cluster: ["web-a", "web-b"],
    local: OWN,
  },
  {
    name: "local-one-of-the-other-family",
    servers: (family) => [
      { workload: "web-a", families: [OTHER_FAMILY[family]] },
      { workload: "web-b", families: [family] },
      { workload: "web-c" },
    ],
    cluster: ["web-b", "web-c"],
    local: [],
  },
  {
    name: "only-the-other-family",
    servers: (family) => [{ workload: "web-a", families: [OTHER_FAMILY[family]] }],
    cluster: [],
    local: [],
  },
];

/** Hints, families, weights, and what no port is for. */
export function endpointScenarios(): readonly Scenario[] {
  return FAMILIES.flatMap((family) => [
    ...ROWS.flatMap((row) => rowScenarios(row, family)),
    ...KUBE_TYPES.map((type) => unplacedScenario(type, family)),
    ...KUBE_TYPES.flatMap((type) => weightScenarios(type, family)),
    ...KUBE_TYPES.flatMap((type) => groupScenarios(type, family)),
    ...KUBE_TYPES.map((type) => otherPolicyScenario(type, family)),
    ...KUBE_TYPES.flatMap((type) => wrongPortScenarios(type, family)),
  ]);
}

function rowScenarios(row: Row, family: Family): readonly Scenario[] {
  return KUBE_TYPES.flatMap((type) =>
    TRAFFIC_POLICIES.flatMap((trafficPolicy) =>
      CALLERS_OF_ROWS.map((caller) =>
        buildScenario({
          what: [policyName(type, trafficPolicy), row.name],
          family,
          service: { type, protocol: "TCP", ...policyFor(type, trafficPolicy) },
          servers: row.servers(family),
          caller,
          expected: expectFor({ type, trafficPolicy, caller }, row, family),
        }),
      ),
    ),
  );
}

/** Nobody said where the server runs that calls itself. */
function unplacedScenario(type: AddressType, family: Family): Scenario {
  const caller = "endpoint";
  return buildScenario({
    what: ["unplaced"],
    family,
    service: { type, protocol: "TCP" },
    servers: [{ workload: "web-a", isPlaced: false }],
    caller,
    expected: expectFor({ type, trafficPolicy: "Cluster", caller }, UNPLACED, family),
  });
}

function weightScenarios(type: AddressType, family: Family): readonly Scenario[] {
  const caller = "outside";
  const build = (name: string, weights: readonly [number, number, number], expected: Expected) =>
    buildScenario({
      what: [name],
      family,
      service: { type, protocol: "TCP" },
      servers: [
        { workload: "web-a", weight: weights[0] },
        { workload: "web-b", weight: weights[1] },
        { workload: "web-c", weight: weights[2] },
      ],
      caller,
      expected,
      needs: { weights: true },
    });
  const masquerade = () => true;
  const shares = expectShares(
    [
      ["web-a", 0.25],
      ["web-b", 0.75],
    ],
    family,
    masquerade,
  );
  return [
    build("weights-1-3-0", [1, 3, 0], shares),
    build("weights-all-0", [0, 0, 0], { kind: "reject" }),
  ];
}

/** Groups that drain. */
function groupScenarios(type: AddressType, family: Family): readonly Scenario[] {
  const caller = "outside";
  const build = (name: string, groups: readonly GroupOfOne[], expected: Expected) =>
    buildScenario({
      what: [name],
      family,
      service: {
        type,
        protocol: "TCP",
        groups: groups.map((one) => ({ group: `default/${one.name}`, weight: one.weight })),
      },
      servers: groups.map((one) => ({ workload: one.workload, group: one.name })),
      caller,
      expected,
      needs: { weights: true },
    });
  const drains: GroupOfOne = { name: "web", weight: 0, workload: "web-a" };
  const stays: GroupOfOne = { name: "other", weight: 1, workload: "web-b" };
  return [
    build("weights-of-the-only-group-0", [drains], { kind: "reject" }),
    build(
      "weights-of-groups-0-1",
      [drains, stays],
      expectEvenly(["web-b"], family, () => true),
    ),
  ];
}

interface GroupOfOne {
  readonly name: string;
  readonly weight: number;
  readonly workload: WorkloadName;
}

/** The policy that is not for the type is Local, and must not matter. */
function otherPolicyScenario(type: AddressType, family: Family): Scenario {
  const other = type === "cluster-ip" ? "node-port" : "cluster-ip";
  const caller = "outside";
  return buildScenario({
    what: [policyName(other, "Local"), SPREAD.name],
    family,
    service: { type, protocol: "TCP", ...policyFor(other, "Local") },
    servers: SPREAD.servers,
    caller,
    expected: expectFor({ type, trafficPolicy: "Cluster", caller }, SPREAD, family),
  });
}

/** A cluster IP belongs to its service alone; other addresses may have other users. */
function wrongPortScenarios(type: AddressType, family: Family): readonly Scenario[] {
  const expected: Expected = { kind: type === "cluster-ip" ? "reject" : "not-ours" };
  const { dstPort } = targetOf(type, family);
  return CALLERS_OF_ROWS.flatMap((caller) => [
    buildScenario({
      what: ["wrong-port"],
      family,
      service: { type, protocol: "TCP" },
      servers: SPREAD.servers,
      target: { dstPort: dstPort + 1 },
      caller,
      expected,
    }),
    buildScenario({
      what: ["wrong-protocol"],
      family,
      service: { type, protocol: "TCP" },
      servers: SPREAD.servers,
      protocol: "UDP",
      caller,
      expected,
    }),
  ]);
}
