import type { Family } from "../../model/address.ts";

export type Addresses = Readonly<Record<Family, string>>;

export const OTHER_FAMILY: Readonly<Record<Family, Family>> = { v4: "v6", v6: "v4" };

interface TopologyNode {
  readonly zone: string;
  readonly addresses: Addresses;
  /** Networks of its workloads. */
  readonly subnets: Addresses;
}

interface Workload {
  readonly node: NodeName;
  readonly addresses: Addresses;
  /** Number as an instance of an edge service. */
  readonly instance: number;
}

export type NodeName = "node-a" | "node-b" | "node-c";

/** `client-a` only calls, the others also serve. */
export type WorkloadName = "client-a" | "web-a" | "web-b" | "web-c";

interface Topology {
  /** The node under test. */
  readonly node: NodeName;
  readonly nodes: Readonly<Record<NodeName, TopologyNode>>;
  /** More addresses of the node under test, not its primary ones. */
  readonly secondary: Addresses;
  readonly workloads: Readonly<Record<WorkloadName, Workload>>;
  /** A machine that is no part of the cluster and reaches services through the node under test. */
  readonly outside: Addresses;
  /** Networks of all workloads. */
  readonly clusterCidrs: Addresses;
  readonly loopback: Addresses;
  readonly clusterIP: Addresses;
  readonly externalIP: Addresses;
  readonly loadBalancerIP: Addresses;
  readonly edgeIP: Addresses;
  readonly listenPort: number;
  /** Of the service, on all its addresses but node ports and listeners. */
  readonly port: number;
  readonly nodePort: number;
  /** On which the workloads serve. */
  readonly targetPort: number;
}

/**
 * The network that all scenarios play in, small enough to be built from network namespaces: the node
 * under test with two workloads, two more nodes with one each, and one machine outside.
 */
export const TOPOLOGY: Topology = {
  node: "node-a",
  nodes: {
    "node-a": {
      zone: "a",
      addresses: { v4: "192.168.100.1", v6: "fd00:100::1" },
      subnets: { v4: "10.244.1.0/24", v6: "fd00:244:1::/64" },
    },
    "node-b": {
      zone: "a",
      addresses: { v4: "192.168.100.2", v6: "fd00:100::2" },
      subnets: { v4: "10.244.2.0/24", v6: "fd00:244:2::/64" },
    },
    "node-c": {
      zone: "c",
      addresses: { v4: "192.168.100.3", v6: "fd00:100::3" },
      subnets: { v4: "10.244.3.0/24", v6: "fd00:244:3::/64" },
    },
  },
  secondary: { v4: "192.168.101.1", v6: "fd00:101::1" },
  workloads: {
    "client-a": {
      node: "node-a",
      addresses: { v4: "10.244.1.11", v6: "fd00:244:1::11" },
      instance: 9,
    },
    "web-a": {
      node: "node-a",
      addresses: { v4: "10.244.1.12", v6: "fd00:244:1::12" },
      instance: 0,
    },
    "web-b": {
      node: "node-b",
      addresses: { v4: "10.244.2.12", v6: "fd00:244:2::12" },
      instance: 1,
    },
    "web-c": {
      node: "node-c",
      addresses: { v4: "10.244.3.12", v6: "fd00:244:3::12" },
      instance: 2,
    },
  },
  outside: { v4: "192.168.200.10", v6: "fd00:200::10" },
  clusterCidrs: { v4: "10.244.0.0/16", v6: "fd00:244::/32" },
  loopback: { v4: "127.0.0.1", v6: "::1" },
  clusterIP: { v4: "10.96.0.10", v6: "fd00:96::10" },
  externalIP: { v4: "203.0.113.10", v6: "2001:db8:e::10" },
  loadBalancerIP: { v4: "203.0.113.20", v6: "2001:db8:1b::20" },
  edgeIP: { v4: "10.30.0.10", v6: "fdff:2000::10" },
  listenPort: 8888,
  port: 80,
  nodePort: 30_080,
  targetPort: 8080,
};
