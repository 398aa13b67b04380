import { FAMILIES } from "../../core/model/address.ts";
import type { BackendDefinition } from "../backend.ts";
import { HEALTHCHECKS_OPTIONS, HEALTHCHECKS_SETS } from "./options.ts";

/** It carries no traffic of services: beside it another backend does. */
export const HEALTHCHECKS: BackendDefinition<typeof HEALTHCHECKS_OPTIONS> = {
  name: "healthchecks",
  summary: "answers load balancers that ask whether this node has endpoints of a service",
  options: HEALTHCHECKS_OPTIONS,
  capabilities: {
    addressTypes: [],
    protocols: [],
    families: FAMILIES,
    affinity: "none",
    sourceRanges: false,
    internalLocal: false,
    externalLocal: false,
    weights: false,
    methods: [],
    requestHints: false,
    keepsSource: false,
  },
  sets: HEALTHCHECKS_SETS,
  probe: async () => [],
  create: async (options, context) => {
    const { createHealthchecksBackend } = await import("./healthchecks-backend.ts");
    const { startHealthServer } = await import("./health-server.ts");
    return createHealthchecksBackend(options, context, { startServer: startHealthServer });
  },
};
