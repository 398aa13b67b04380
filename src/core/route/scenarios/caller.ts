import type { Family } from "../../model/address.ts";
import type { PacketOrigin } from "../packet.ts";
import type { RoutePolicy } from "../route-policy.ts";
import type { AddressType } from "../verdict.ts";
import { TOPOLOGY } from "./topology.ts";

/** Who sends the packet; `endpoint` is a workload of the node that serves the service itself. */
export type Caller = "outside" | "node" | "workload" | "endpoint";

export const CALLERS: readonly Caller[] = ["outside", "node", "workload", "endpoint"];

export const ORIGINS: Readonly<Record<Caller, PacketOrigin>> = {
  outside: "outside",
  node: "node",
  workload: "workload",
  endpoint: "workload",
};

/** The address that the caller sends from. */
export function sourceOf(caller: Caller, family: Family): string {
  const { nodes, workloads, outside } = TOPOLOGY;
  const addresses = {
    outside,
    node: nodes["node-a"].addresses,
    workload: workloads["client-a"].addresses,
    endpoint: workloads["web-a"].addresses,
  };
  return addresses[caller][family];
}

export interface Target {
  readonly dst: string;
  readonly dstPort: number;
}

/** How the service is called at an address of this type. */
export function targetOf(type: AddressType, family: Family): Target {
  const { clusterIP, externalIP, loadBalancerIP, edgeIP, nodes } = TOPOLOGY;
  const { port, nodePort, listenPort } = TOPOLOGY;
  const node = nodes["node-a"].addresses[family];
  const targets: Readonly<Record<AddressType, Target>> = {
    "cluster-ip": { dst: clusterIP[family], dstPort: port },
    "external-ip": { dst: externalIP[family], dstPort: port },
    "load-balancer-ip": { dst: loadBalancerIP[family], dstPort: port },
    "node-port": { dst: node, dstPort: nodePort },
    "listen-address": { dst: node, dstPort: listenPort },
    "edge-ip": { dst: edgeIP[family], dstPort: port },
  };
  return targets[type];
}

/** What most scenarios are played with: the workloads of the cluster are known by their networks. */
export const SCENARIO_POLICY: RoutePolicy = {
  nodePortAddresses: "primary",
  masqueradeAll: false,
  localDetection: {
    mode: "cluster-cidr",
    cidrs: [TOPOLOGY.clusterCidrs.v4, TOPOLOGY.clusterCidrs.v6],
  },
};
