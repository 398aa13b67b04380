import type { ValuesOf } from "../../core/options/option-spec.ts";

/** What `manager` has beside `up`. */
export const MANAGER_OPTIONS = {
  managerNames: {
    kind: "list",
    placeholder: "HOST",
    help: "names and addresses that nodes call this manager by, beside those of this machine; may be repeated",
  },
  managerAddress: {
    kind: "string",
    placeholder: "HOST:PORT",
    help: "where nodes reach this manager, as those of its etcd tell them; found out when not given",
  },
  managerEtcd: {
    kind: "string",
    placeholder: "HOST:PORT[,HOST:PORT]",
    help: "keep what the manager knows in this etcd, for several managers; in the state folder when not given",
  },
  trustDomain: {
    kind: "string",
    placeholder: "NAME",
    default: "portolan",
    help: "what identities begin with: spiffe://NAME/node/...; of a new authority only",
  },
  nodeTimeout: {
    kind: "duration",
    default: "5s",
    help: "a node that does not renew for so long is dead: its instances leave all tables",
  },
  certificateLifetime: {
    kind: "duration",
    default: "24h",
    help: "how long certificates of nodes are good; they are renewed in time",
  },
  serviceCertificateLifetime: {
    kind: "duration",
    default: "1h",
    help: "how long certificates of services are good; sidecars renew them in time",
  },
  nodeRanges: {
    kind: "list",
    placeholder: "NETWORK",
    help: "where networks of nodes come from; 10.18.0.0/15, 10.20.0.0/14, 10.24.0.0/14, 10.28.0.0/15 and fc00::/16 when not given; may be repeated",
  },
  nodePrefixV4: {
    kind: "number",
    min: 1,
    max: 30,
    default: 26,
    help: "how long the prefix of a node's IPv4 network is",
  },
  nodePrefixV6: {
    kind: "number",
    min: 1,
    max: 126,
    default: 120,
    help: "how long the prefix of a node's IPv6 network is",
  },
  serviceRanges: {
    kind: "list",
    placeholder: "NETWORK",
    help: "where addresses of services come from; 10.30.0.0/16 and, by policy, parts of fdff::/16 when not given; may be repeated",
  },
} as const;

export type ManagerValues = ValuesOf<typeof MANAGER_OPTIONS>;
