import type { EdgePolicy } from "../../core/model/service.ts";

/** Numbers of the fields of `localv1.Service`; those from 100 up are ours. */
export const SERVICE_FIELD = {
  namespace: 1,
  name: 2,
  type: 3,
  ips: 4,
  ports: 6,
  externalToLocal: 7,
  labels: 8,
  annotations: 9,
  ipFilters: 10,
  clientIpAffinity: 11,
  internalToLocal: 12,
  healthCheckNodePort: 13,
  clusterIpOrder: 101,
  externalIpOrder: 102,
  loadBalancerIpOrder: 103,
  sourceRangeOrder: 104,
  plain: 105,
  trafficDistribution: 106,
  edgeIps: 107,
  groups: 108,
  usable: 109,
  ending: 110,
} as const;

export const EDGE_POLICY_NUMBER: Readonly<Record<EdgePolicy, number>> = {
  "round-robin": 0,
  closest: 1,
  instance: 2,
};

export const EDGE_POLICIES: readonly EdgePolicy[] = ["round-robin", "closest", "instance"];
