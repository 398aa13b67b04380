/** Numbers of the fields of `localv1.Endpoint`; those from 100 up are ours. */
export const ENDPOINT_FIELD = {
  hostname: 1,
  ips: 2,
  local: 3,
  portOverrides: 4,
  scopes: 5,
  name: 101,
  group: 102,
  podName: 103,
  source: 104,
  node: 105,
  zone: 106,
  hintZones: 107,
  hintNodes: 108,
  notReady: 109,
  notServing: 110,
  terminating: 111,
  weight: 112,
  instance: 113,
  needs: 114,
  labels: 115,
  annotations: 116,
  portUse: 117,
  ownPorts: 118,
  ownPortsDiffer: 119,
  addressOrder: 120,
  families: 121,
} as const;

/** Of `localv1.PortName`: the protocol that the port is for, as in `PortMapping`; 0: any. */
export const PORT_PROTOCOL_FIELD = 101;
