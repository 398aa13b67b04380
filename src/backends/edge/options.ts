import type { SetName } from "../../core/view/ops.ts";

/** Beyond services and endpoints: who the other nodes are, and who publishes a service. */
export const EDGE_SETS: readonly SetName[] = ["nodes", "listeners", "groups", "security-groups"];

export const EDGE_OPTIONS = {
  edgeRange: {
    kind: "list",
    placeholder: "CIDR",
    help: "a network of edge addresses, which leads into the tunnel; may be repeated; 10.30.0.0/16 and fdff::/16 when not given",
  },
  edgeAddress: {
    kind: "list",
    placeholder: "IP",
    help: "by which this machine itself speaks to services, within its node's subnets; the first address of each when not given",
  },
  tunnelFolder: {
    kind: "string",
    placeholder: "DIR",
    default: "/var/lib/portolan/tunnel",
    help: "where the private key of the tunnel is, made where it is missing, and what connections there are",
  },
  tunnelListenPort: {
    kind: "number",
    min: 1,
    max: 65_535,
    default: 50_103,
    help: "the UDP port of the tunnel on this machine",
  },
  tunnelModes: {
    kind: "list",
    placeholder: "MODE",
    suggestions: ["secure", "fast", "compat"],
    help: "what other nodes may agree on, the best one first: secure, fast, compat; secure alone when not given",
  },
  tunnelMtu: {
    kind: "number",
    min: 1280,
    max: 65_000,
    default: 1400,
    help: "the longest packet of workloads: what the way between nodes takes, less what the tunnel adds",
  },
} as const;
