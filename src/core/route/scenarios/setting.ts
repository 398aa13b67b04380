import { FAMILIES, type Family } from "../../model/address.ts";
import type { Protocol } from "../../model/common.ts";
import { type Endpoint, endpointSchema, type TopologyHints } from "../../model/endpoint.ts";
import { type Node, nodeSchema } from "../../model/node.ts";
import type { ModelObject } from "../../model/object.ts";
import {
  type EdgeAddress,
  type GroupRef,
  type Service,
  serviceSchema,
  type TrafficPolicy,
} from "../../model/service.ts";
import type { AddressType } from "../verdict.ts";
import { type Addresses, type NodeName, TOPOLOGY, type WorkloadName } from "./topology.ts";

/** A workload that serves, and how it does. */
export interface Server {
  readonly workload: WorkloadName;
  readonly condition?: Condition;
  readonly hints?: Partial<TopologyHints>;
  readonly weight?: number;
  /** Whether the state says where it runs. Default: true. */
  readonly isPlaced?: boolean;
  /** Name of its group. Default: that of the service. */
  readonly group?: string;
  /** Default: both. */
  readonly families?: readonly Family[];
}

/** `failing`: terminating, and not serving any more. */
export type Condition = "ready" | "not-ready" | "terminating" | "failing";

const CONDITIONS = {
  ready: { ready: true, serving: true, terminating: false },
  "not-ready": { ready: false, serving: false, terminating: false },
  terminating: { ready: false, serving: true, terminating: true },
  failing: { ready: false, serving: false, terminating: true },
} as const;

/** The service under test, in what scenarios vary. */
export interface ServiceSetting {
  readonly type: AddressType;
  readonly protocol: Protocol;
  readonly internalTrafficPolicy?: TrafficPolicy;
  readonly externalTrafficPolicy?: TrafficPolicy;
  readonly affinitySeconds?: number;
  readonly sourceRanges?: readonly string[];
  /** Default: the one of its own name. */
  readonly groups?: readonly Pick<GroupRef, "group" | "weight">[];
  /** Policy and instance of the edge addresses. */
  readonly edge?: Omit<EdgeAddress, "address">;
}

export const SERVICE_KEY = "default/web";
export const PORT_NAME = "main";

/** Key of the endpoint that a workload is. */
export function endpointKey(workload: WorkloadName): string {
  return `${SERVICE_KEY}/${workload}`;
}

/** All of a state: the nodes, the service under test and its servers. */
export function objectsFor(
  setting: ServiceSetting,
  servers: readonly Server[],
): readonly ModelObject[] {
  return [...NODES, serviceFor(setting), ...servers.map(endpointFor)];
}

const NODE_NAMES: readonly NodeName[] = ["node-a", "node-b", "node-c"];

const NODES: readonly Node[] = NODE_NAMES.map((name) => {
  const { zone, addresses, subnets } = TOPOLOGY.nodes[name];
  return nodeSchema.parse({
    kind: "Node",
    name,
    zone,
    addresses: [...both(addresses), ...(name === TOPOLOGY.node ? both(TOPOLOGY.secondary) : [])],
    subnets: both(subnets),
  });
});

function both(addresses: Addresses): readonly string[] {
  return FAMILIES.map((family) => addresses[family]);
}

function serviceFor(setting: ServiceSetting): Service {
  const { type, protocol, edge, ...policies } = setting;
  const { port, nodePort, targetPort } = TOPOLOGY;
  const isNodePort = type === "node-port";
  return serviceSchema.parse({
    kind: "Service",
    name: "web",
    type: SERVICE_TYPES[type],
    clusterIPs: type === "edge-ip" || type === "listen-address" ? [] : both(TOPOLOGY.clusterIP),
    externalIPs: type === "external-ip" ? both(TOPOLOGY.externalIP) : [],
    loadBalancerIPs: type === "load-balancer-ip" ? both(TOPOLOGY.loadBalancerIP) : [],
    edgeIPs:
      edge === undefined ? [] : both(TOPOLOGY.edgeIP).map((address) => ({ address, ...edge })),
    ports: [{ name: PORT_NAME, protocol, port, nodePort: isNodePort ? nodePort : 0, targetPort }],
    ...policies,
  });
}

const SERVICE_TYPES = {
  "cluster-ip": "ClusterIP",
  "external-ip": "ClusterIP",
  "load-balancer-ip": "LoadBalancer",
  "node-port": "NodePort",
  "listen-address": "Plain",
  "edge-ip": "Plain",
} as const;

function endpointFor(server: Server): Endpoint {
  const { workload, condition = "ready", hints = {}, weight = 1 } = server;
  const { isPlaced = true, group = "web", families = FAMILIES } = server;
  const { node, addresses, instance } = TOPOLOGY.workloads[workload];
  return endpointSchema.parse({
    kind: "Endpoint",
    name: workload,
    group,
    addresses: families.map((family) => addresses[family]),
    node: isPlaced ? node : "",
    zone: TOPOLOGY.nodes[node].zone,
    hints,
    weight,
    instance,
    ...CONDITIONS[condition],
  });
}
