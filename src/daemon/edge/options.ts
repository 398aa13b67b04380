import type { ValuesOf } from "../../core/options/option-spec.ts";
import { INSTANCE_OPTIONS } from "../options.ts";

const { node, state, metricsListen, dryRun, json } = INSTANCE_OPTIONS;

/** What `edge node` takes. */
export const EDGE_NODE_OPTIONS = {
  listen: {
    kind: "address",
    canBeOff: true,
    default: "127.0.0.1:6000",
    help: "where the REST API is, beside the socket edge.sock in the state folder, or off",
  },
  subnet: {
    kind: "list",
    placeholder: "CIDR",
    help: "the network of this node's workloads, and one of IPv6: as /register says it; may be given twice",
  },
  serviceRange: {
    kind: "list",
    placeholder: "CIDR",
    help: "a network of service addresses; may be repeated; 10.30.0.0/16 and fdff::/16 when not given",
  },
  bridge: {
    kind: "string",
    placeholder: "LINK",
    default: "portolan0",
    help: "the bridge that workloads are connected with",
  },
  mtu: {
    kind: "number",
    min: 1280,
    max: 65_535,
    default: 1400,
    help: "of the links of workloads: what the way between nodes takes, less what the tunnel adds",
  },
  nodeAddress: {
    kind: "string",
    placeholder: "IP",
    help: "where other nodes reach this one; that of the default route when not given",
  },
  tunnelPort: {
    kind: "number",
    min: 1,
    max: 65_535,
    default: 50_103,
    help: "the UDP port of the tunnel, which no workload may publish",
  },
  egressAllow: {
    kind: "list",
    placeholder: "CIDR",
    help: "the only networks beyond the overlay that workloads may reach; may be repeated; all when not given",
  },
  egressDeny: {
    kind: "list",
    placeholder: "CIDR",
    help: "a network beyond the overlay that workloads may not reach; may be repeated",
  },
  engineSocket: {
    kind: "string",
    placeholder: "FILE",
    default: "/var/run/docker.sock",
    help: "where the container engine answers (Docker API)",
  },
  dns: {
    kind: "enum",
    values: ["on", "off"],
    default: "on",
    help: "answer workloads for names of services and all others, on port 53 of the bridge",
  },
  dnsForward: {
    kind: "list",
    placeholder: "IP[:PORT]",
    help: "who is asked for other names; may be repeated; the resolvers of this machine when not given",
  },
  mdns: {
    kind: "enum",
    values: ["on", "off"],
    default: "on",
    help: "answer for names below .local by multicast on the bridge",
  },
  needsTimeout: {
    kind: "duration",
    default: "5s",
    help: "how long a deployment waits for the services that it needs",
  },
  awake: {
    kind: "duration",
    default: "0s",
    help: "for so long after a packet the processors of this machine wait awake for the next: it is sooner on its way, and takes power; 0s: never",
  },
  kernelPath: {
    kind: "enum",
    values: ["auto", "off"],
    default: "auto",
    help: "have short packets pass in the kernel where it can do that, which is quicker than waking this program",
  },
} as const;

/** What `edge join` takes beside the options of a node. */
export const EDGE_JOIN_OPTIONS = {
  tokenFile: {
    kind: "string",
    placeholder: "FILE",
    help: "a file with a join token; needed until this node has joined",
  },
} as const;

export const EDGE_INSTANCE_OPTIONS: Pick<
  typeof INSTANCE_OPTIONS,
  "node" | "state" | "metricsListen" | "dryRun" | "json"
> = { node, state, metricsListen, dryRun, json };

export type EdgeNodeValues = ValuesOf<typeof EDGE_NODE_OPTIONS & typeof EDGE_INSTANCE_OPTIONS>;
