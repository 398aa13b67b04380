/** Numbers of the fields of `globalv1.EndpointInfo`. */
export const ENDPOINT_INFO_FIELD = {
  namespace: 2,
  sourceName: 3,
  serviceName: 4,
  endpoint: 6,
  conditions: 7,
  podName: 8,
  topology: 9,
  hints: 10,
} as const;

/** Numbers of the fields of `globalv1.Node`; those from 100 up are ours. */
export const NODE_FIELD = {
  name: 1,
  labels: 2,
  annotations: 3,
  topology: 4,
  addresses: 101,
  subnets: 102,
  tunnel: 103,
  dead: 104,
  leaving: 105,
} as const;
