import type { BackendDefinition } from "../../../src/backends/backend.ts";
import { FAMILIES } from "../../../src/core/model/address.ts";
import { PROTOCOLS } from "../../../src/core/model/common.ts";

const HOSTS_OPTIONS = {
  hostsFile: {
    kind: "string",
    placeholder: "FILE",
    default: "portolan-hosts",
    help: "where to write the names of services",
  },
} as const;

export type HostsOptions = typeof HOSTS_OPTIONS;

export const HOSTS: BackendDefinition<HostsOptions> = {
  name: "hosts",
  summary: "writes the cluster IPs of services into a file like /etc/hosts",
  options: HOSTS_OPTIONS,
  capabilities: {
    addressTypes: ["cluster-ip"],
    protocols: PROTOCOLS,
    families: FAMILIES,
    affinity: "none",
    sourceRanges: false,
    internalLocal: false,
    externalLocal: false,
    weights: false,
    methods: [],
    requestHints: false,
    keepsSource: true,
  },
  sets: [],
  probe: async () => [],
  create: async (options, context) => {
    const { createHostsBackend } = await import("./hosts-backend.ts");
    return createHostsBackend(options, context);
  },
};
