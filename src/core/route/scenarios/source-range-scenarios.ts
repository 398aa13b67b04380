import { FAMILIES, type Family } from "../../model/address.ts";
import type { TrafficPolicy } from "../../model/service.ts";
import { buildScenario } from "./build.ts";
import { CALLERS, type Caller } from "./caller.ts";
import { expectEvenly, expectFor } from "./expect.ts";
import {
  KUBE_TYPES,
  NO_SERVERS,
  policyFor,
  policyName,
  SPREAD,
  TRAFFIC_POLICIES,
} from "./product.ts";
import type { Scenario } from "./scenario.ts";
import { type Addresses, OTHER_FAMILY, TOPOLOGY } from "./topology.ts";

const { clusterCidrs, outside, loadBalancerIP } = TOPOLOGY;

/** Networks that nobody of the topology is in. */
const NOWHERE: Addresses = { v4: "198.51.100.0/24", v6: "2001:db8:ff::/48" };
const NODE_NETWORK: Addresses = { v4: "192.168.100.0/24", v6: "fd00:100::/64" };
const EVERYWHERE: Addresses = { v4: "0.0.0.0/0", v6: "::/0" };

/** Source ranges, and whom they let in: written by hand. */
interface Ranges {
  readonly name: string;
  readonly ranges: (family: Family) => readonly string[];
  readonly letsIn: readonly Caller[];
}

const RANGES: readonly Ranges[] = [
  {
    name: "ranges-for-outside",
    ranges: (family) => [outside[family], NOWHERE[family]],
    letsIn: ["outside"],
  },
  {
    name: "ranges-for-workloads",
    ranges: (family) => [clusterCidrs[family]],
    letsIn: ["workload", "endpoint"],
  },
  { name: "ranges-for-nodes", ranges: (family) => [NODE_NETWORK[family]], letsIn: ["node"] },
  { name: "ranges-for-nobody", ranges: (family) => [NOWHERE[family]], letsIn: [] },
  {
    name: "ranges-for-everybody",
    ranges: (family) => [NOWHERE[family], EVERYWHERE[family]],
    letsIn: CALLERS,
  },
  {
    name: "ranges-of-the-other-family",
    ranges: (family) => [NOWHERE[OTHER_FAMILY[family]]],
    letsIn: CALLERS,
  },
];

export function sourceRangeScenarios(): readonly Scenario[] {
  return FAMILIES.flatMap((family) => [
    ...RANGES.flatMap((row) =>
      TRAFFIC_POLICIES.flatMap((policy) => letInOrNot(row, policy, family)),
    ),
    beforeAnythingElse(family),
    ...fromTheAddressItself(family),
    ...notForOtherTypes(family),
  ]);
}

function letInOrNot(row: Ranges, trafficPolicy: TrafficPolicy, family: Family): Scenario[] {
  const type = "load-balancer-ip";
  return CALLERS.map((caller) =>
    buildScenario({
      what: [policyName(type, trafficPolicy), row.name],
      family,
      service: {
        type,
        protocol: "TCP",
        ...policyFor(type, trafficPolicy),
        sourceRanges: row.ranges(family),
      },
      servers: SPREAD.servers,
      caller,
      expected: row.letsIn.includes(caller)
        ? expectFor({ type, trafficPolicy, caller }, SPREAD, family)
        : { kind: "drop" },
    }),
  );
}

/** Who is not let in is not told that there is nobody. */
function beforeAnythingElse(family: Family): Scenario {
  return buildScenario({
    what: ["ranges-for-nobody", NO_SERVERS.name],
    family,
    service: { type: "load-balancer-ip", protocol: "TCP", sourceRanges: [NOWHERE[family]] },
    servers: NO_SERVERS.servers,
    caller: "outside",
    expected: { kind: "drop" },
  });
}

/** A node's own packet to the address can carry it as its source. */
function fromTheAddressItself(family: Family): readonly Scenario[] {
  const build = (name: string, range: string, isLetIn: boolean) =>
    buildScenario({
      what: [name, "source-is-the-address"],
      family,
      service: { type: "load-balancer-ip", protocol: "TCP", sourceRanges: [range] },
      servers: SPREAD.servers,
      caller: "node",
      src: loadBalancerIP[family],
      expected: isLetIn ? expectEvenly(SPREAD.cluster, family, () => true) : { kind: "drop" },
    });
  return [
    build("ranges-for-nodes", NODE_NETWORK[family], true),
    build("ranges-for-outside", outside[family], false),
  ];
}

function notForOtherTypes(family: Family): readonly Scenario[] {
  return KUBE_TYPES.filter((type) => type !== "load-balancer-ip").map((type) =>
    buildScenario({
      what: ["ranges-for-nobody"],
      family,
      service: { type, protocol: "TCP", sourceRanges: [NOWHERE[family]] },
      servers: SPREAD.servers,
      caller: "outside",
      expected: expectFor({ type, trafficPolicy: "Cluster", caller: "outside" }, SPREAD, family),
    }),
  );
}
