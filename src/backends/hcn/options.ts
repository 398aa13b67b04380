export const HCN_OPTIONS = {
  networkName: {
    kind: "string",
    placeholder: "NAME",
    help: "the HCN network of the workloads, which the CNI plugin made",
  },
  sourceVip: {
    kind: "string",
    placeholder: "IP",
    help: "on overlay networks: an address of the node's subnet that nobody has, as the source of what is balanced",
  },
  nodeIp: {
    kind: "string",
    placeholder: "IP",
    help: "the node's own address; that of the Node object where it is missing",
  },
  enableDsr: {
    kind: "boolean",
    help: "endpoints answer clients of cluster IPs themselves (direct server return), where HNS can",
  },
  syncPeriod: {
    kind: "duration",
    default: "30s",
    help: "how often the network is looked at, and what is missing is tried again; 1s or more",
  },
  fullCheckPeriod: {
    kind: "duration",
    default: "10m",
    help: "how often it is looked for what others removed, which is made anew; 1s or more",
  },
  minSyncPeriod: {
    kind: "duration",
    default: "0s",
    help: "the shortest time from one sync to the next; what changes in between is applied together",
  },
} as const;
