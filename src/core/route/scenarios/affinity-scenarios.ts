import { FAMILIES, type Family } from "../../model/address.ts";
import type { Protocol } from "../../model/common.ts";
import type { TrafficPolicy } from "../../model/service.ts";
import type { AffinityRecord } from "../observed.ts";
import type { AddressType } from "../verdict.ts";
import { buildScenario } from "./build.ts";
import { type Caller, sourceOf } from "./caller.ts";
import { expectFor } from "./expect.ts";
import { KUBE_TYPES, policyFor, policyName, SPREAD } from "./product.ts";
import type { Scenario, ScenarioNeeds } from "./scenario.ts";
import { endpointKey, PORT_NAME, SERVICE_KEY } from "./setting.ts";
import { TOPOLOGY, type WorkloadName } from "./topology.ts";

/** Short, so that a real data plane can be waited for. */
const AFFINITY_SECONDS = 2;

interface History {
  readonly name: string;
  readonly trafficPolicy: TrafficPolicy;
  readonly before: (family: Family) => readonly AffinityRecord[];
  /** Whom the packet goes to. */
  readonly bound: readonly WorkloadName[];
  readonly affinity: NonNullable<ScenarioNeeds["affinity"]>;
}

const recordOf = (family: Family): AffinityRecord => ({
  service: SERVICE_KEY,
  port: PORT_NAME,
  client: sourceOf("outside", family),
  endpoint: endpointKey("web-b"),
  ageSeconds: 1,
});

const HISTORIES: readonly History[] = [
  {
    name: "affinity-first-call",
    trafficPolicy: "Cluster",
    before: () => [],
    bound: ["web-a", "web-b", "web-c"],
    affinity: "sticky",
  },
  {
    name: "affinity-remembered",
    trafficPolicy: "Cluster",
    before: (family) => [recordOf(family)],
    bound: ["web-b"],
    affinity: "sticky",
  },
  {
    name: "affinity-over",
    trafficPolicy: "Cluster",
    before: (family) => [{ ...recordOf(family), ageSeconds: AFFINITY_SECONDS + 1 }],
    bound: ["web-a", "web-b", "web-c"],
    affinity: "with-timeout",
  },
  {
    name: "affinity-of-another-client",
    trafficPolicy: "Cluster",
    before: (family) => [
      { ...recordOf(family), client: TOPOLOGY.nodes["node-b"].addresses[family] },
    ],
    bound: ["web-a", "web-b", "web-c"],
    affinity: "sticky",
  },
  {
    name: "affinity-to-one-that-is-gone",
    trafficPolicy: "Cluster",
    before: (family) => [{ ...recordOf(family), endpoint: endpointKey("client-a") }],
    bound: ["web-a", "web-b", "web-c"],
    affinity: "sticky",
  },
  {
    name: "affinity-to-one-that-is-not-local",
    trafficPolicy: "Local",
    before: (family) => [recordOf(family)],
    bound: ["web-a"],
    affinity: "sticky",
  },
];

const PROTOCOLS: readonly Protocol[] = ["TCP", "UDP"];
const CALLER: Caller = "outside";

/** Address type x history x TCP and UDP x family. */
export function affinityScenarios(): readonly Scenario[] {
  return KUBE_TYPES.flatMap((type) =>
    HISTORIES.flatMap((history) =>
      PROTOCOLS.flatMap((protocol) =>
        FAMILIES.map((family) => affinityScenario(type, history, protocol, family)),
      ),
    ),
  );
}

function affinityScenario(
  type: AddressType,
  history: History,
  protocol: Protocol,
  family: Family,
): Scenario {
  const { name, trafficPolicy, bound, affinity } = history;
  const lists = { cluster: bound, local: bound };
  return buildScenario({
    what: [policyName(type, trafficPolicy), name],
    family,
    service: {
      type,
      protocol,
      ...policyFor(type, trafficPolicy),
      affinitySeconds: AFFINITY_SECONDS,
    },
    servers: SPREAD.servers,
    caller: CALLER,
    observed: { affinity: history.before(family) },
    expected: expectFor({ type, trafficPolicy, caller: CALLER }, lists, family),
    needs: { affinity },
  });
}
