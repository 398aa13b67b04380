import type { Family } from "../../model/address.ts";
import type { TrafficPolicy } from "../../model/service.ts";
import type { AddressType } from "../verdict.ts";
import type { Caller } from "./caller.ts";
import type { Expected } from "./scenario.ts";
import { TOPOLOGY, type WorkloadName } from "./topology.ts";

/** What the servers of a row come to, written by hand. */
export interface Lists {
  /** Whom this node chooses from among all, and among its own. */
  readonly cluster: readonly WorkloadName[];
  readonly local: readonly WorkloadName[];
}

/** The facts that the rule below decides by. */
export interface Facts {
  readonly type: AddressType;
  /** The one that is for the type: internal for a cluster IP, else external. */
  readonly trafficPolicy: TrafficPolicy;
  readonly caller: Caller;
  /** Whether the data plane can tell workloads from others. Default: true. */
  readonly detectsLocal?: boolean;
  readonly masqueradeAll?: boolean;
}

/**
 * The rule of the scenarios, independent of `route`: in words, who calls from within the cluster is
 * not bound by an external Local policy; nobody anywhere is a reject, nobody here a drop.
 */
export function expectFor(facts: Facts, lists: Lists, family: Family): Expected {
  const chosen = choosesFromCluster(facts) ? lists.cluster : lists.local;
  if (chosen.length === 0) return { kind: lists.cluster.length === 0 ? "reject" : "drop" };
  const masquerade = hidesSource(facts);
  return expectEvenly(
    chosen,
    family,
    (workload) => masquerade || (facts.caller === "endpoint" && workload === "web-a"),
  );
}

function choosesFromCluster(facts: Facts): boolean {
  if (facts.trafficPolicy === "Cluster") return true;
  if (facts.type === "cluster-ip") return false;
  return facts.caller === "node" || isKnownWorkload(facts);
}

function hidesSource(facts: Facts): boolean {
  const { type, caller, trafficPolicy, detectsLocal = true, masqueradeAll = false } = facts;
  if (type === "cluster-ip") return masqueradeAll || (detectsLocal && !isKnownWorkload(facts));
  if (trafficPolicy === "Cluster") return true;
  return caller === "node";
}

function isKnownWorkload({ caller, detectsLocal = true }: Facts): boolean {
  return detectsLocal && (caller === "workload" || caller === "endpoint");
}

/** The same share for each. */
export function expectEvenly(
  workloads: readonly WorkloadName[],
  family: Family,
  masquerade: (workload: WorkloadName) => boolean,
): Expected {
  const probability = 1 / workloads.length;
  return expectShares(
    workloads.map((workload) => [workload, probability]),
    family,
    masquerade,
  );
}

export function expectShares(
  shares: readonly (readonly [WorkloadName, number])[],
  family: Family,
  masquerade: (workload: WorkloadName) => boolean,
): Expected {
  const { workloads, targetPort } = TOPOLOGY;
  const endpoints = shares.map(([workload, probability]) => ({
    workload,
    address: workloads[workload].addresses[family],
    targetPort,
    probability,
    masquerade: masquerade(workload),
  }));
  return { kind: "endpoints", endpoints };
}
