import { FAMILIES, type Family } from "../../model/address.ts";
import type { Protocol } from "../../model/common.ts";
import type { TrafficPolicy } from "../../model/service.ts";
import type { AddressType } from "../verdict.ts";
import { buildScenario } from "./build.ts";
import { CALLERS, type Caller } from "./caller.ts";
import { expectFor, type Lists } from "./expect.ts";
import type { Scenario } from "./scenario.ts";
import type { Server, ServiceSetting } from "./setting.ts";

/** The address types that kube-proxy knows. */
export const KUBE_TYPES: readonly AddressType[] = [
  "cluster-ip",
  "external-ip",
  "load-balancer-ip",
  "node-port",
];

export const TRAFFIC_POLICIES: readonly TrafficPolicy[] = ["Cluster", "Local"];

/** Which servers there are, in which condition, and what that comes to: written by hand. */
interface Row extends Lists {
  readonly name: string;
  readonly servers: readonly Server[];
  /** Told for every protocol; the others for TCP only, since readiness knows no protocol. */
  readonly forAllProtocols?: true;
}

export const SPREAD: Row = {
  name: "spread",
  servers: [{ workload: "web-a" }, { workload: "web-b" }, { workload: "web-c" }],
  cluster: ["web-a", "web-b", "web-c"],
  local: ["web-a"],
  forAllProtocols: true,
};

export const NO_SERVERS: Row = {
  name: "no-endpoints",
  servers: [],
  cluster: [],
  local: [],
  forAllProtocols: true,
};

const ROWS: readonly Row[] = [
  SPREAD,
  NO_SERVERS,
  {
    name: "no-local",
    servers: [{ workload: "web-b" }, { workload: "web-c" }],
    cluster: ["web-b", "web-c"],
    local: [],
    forAllProtocols: true,
  },
  {
    name: "only-local",
    servers: [{ workload: "web-a" }],
    cluster: ["web-a"],
    local: ["web-a"],
  },
  {
    name: "none-ready",
    servers: [
      { workload: "web-a", condition: "not-ready" },
      { workload: "web-b", condition: "not-ready" },
    ],
    cluster: [],
    local: [],
  },
  {
    name: "local-not-ready",
    servers: [{ workload: "web-a", condition: "not-ready" }, { workload: "web-b" }],
    cluster: ["web-b"],
    local: [],
  },
  {
    name: "all-terminating",
    servers: [
      { workload: "web-a", condition: "terminating" },
      { workload: "web-b", condition: "terminating" },
      { workload: "web-c", condition: "failing" },
    ],
    cluster: ["web-a", "web-b"],
    local: ["web-a"],
  },
  {
    name: "local-terminating",
    servers: [
      { workload: "web-a", condition: "terminating" },
      { workload: "web-b" },
      { workload: "web-c" },
    ],
    cluster: ["web-b", "web-c"],
    local: ["web-a"],
  },
  {
    name: "all-failing",
    servers: [
      { workload: "web-a", condition: "failing" },
      { workload: "web-b", condition: "failing" },
    ],
    cluster: [],
    local: [],
  },
];

/** Address type x protocol x family x traffic policy x endpoints x caller. */
export function productScenarios(): readonly Scenario[] {
  return KUBE_TYPES.flatMap((type) =>
    TRAFFIC_POLICIES.flatMap((trafficPolicy) =>
      ROWS.flatMap((row) =>
        protocolsFor(row).flatMap((protocol) =>
          FAMILIES.flatMap((family) =>
            CALLERS.filter((caller) => makesSense(caller, row)).map((caller) =>
              productScenario({ type, trafficPolicy, row, protocol, family, caller }),
            ),
          ),
        ),
      ),
    ),
  );
}

interface Point {
  readonly type: AddressType;
  readonly trafficPolicy: TrafficPolicy;
  readonly row: Row;
  readonly protocol: Protocol;
  readonly family: Family;
  readonly caller: Caller;
}

function productScenario(point: Point): Scenario {
  const { type, trafficPolicy, row, protocol, family, caller } = point;
  return buildScenario({
    what: [policyName(type, trafficPolicy), row.name],
    family,
    service: { type, protocol, ...policyFor(type, trafficPolicy) },
    servers: row.servers,
    caller,
    expected: expectFor({ type, trafficPolicy, caller }, row, family),
  });
}

export function policyName(type: AddressType, policy: TrafficPolicy): string {
  return `${type === "cluster-ip" ? "iTP" : "eTP"}-${policy}`;
}

/** The traffic policy that is for the type; the other one stays Cluster and must not matter. */
export function policyFor(
  type: AddressType,
  policy: TrafficPolicy,
): Pick<ServiceSetting, "internalTrafficPolicy" | "externalTrafficPolicy"> {
  return type === "cluster-ip"
    ? { internalTrafficPolicy: policy }
    : { externalTrafficPolicy: policy };
}

function protocolsFor(row: Row): readonly Protocol[] {
  return row.forAllProtocols ? ["TCP", "UDP", "SCTP"] : ["TCP"];
}

/** A server that calls itself is of interest where it is one. */
function makesSense(caller: Caller, row: Row): boolean {
  return caller !== "endpoint" || row.servers.some(({ workload }) => workload === "web-a");
}
