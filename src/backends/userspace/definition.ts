import { FAMILIES } from "../../core/model/address.ts";
import { BALANCING_METHODS } from "../../core/model/group.ts";
import type { BackendDefinition } from "../backend.ts";
import { USERSPACE_OPTIONS, USERSPACE_SETS } from "./options.ts";

export const USERSPACE: BackendDefinition<typeof USERSPACE_OPTIONS> = {
  name: "userspace",
  summary: "a proxy in this process; needs no root",
  options: USERSPACE_OPTIONS,
  capabilities: {
    addressTypes: ["external-ip", "load-balancer-ip", "node-port", "listen-address"],
    protocols: ["TCP", "UDP"],
    families: FAMILIES,
    affinity: "with-timeout",
    sourceRanges: true,
    // It is about cluster IPs alone, which a deviation leaves out.
    internalLocal: true,
    externalLocal: true,
    weights: true,
    methods: BALANCING_METHODS,
    requestHints: true,
    keepsSource: false,
  },
  sets: USERSPACE_SETS,
  drainMs: ({ drainTimeout }) => drainTimeout,
  probe: async ({ os }) =>
    os === "linux"
      ? []
      : [
          {
            severity: "degraded",
            what: `the fast provider of sockets is not for ${os}`,
            remedy: "Node's own sockets are used; run on Linux for more speed",
          },
        ],
  create: async (options, context) => {
    const { createEngine } = await import("../../proxy/engine.ts");
    const { readMachineAddresses } = await import("./machine-addresses.ts");
    const { createUserspaceBackend } = await import("./userspace-backend.ts");
    const { availableParallelism } = await import("node:os");
    return createUserspaceBackend(options, context, {
      createEngine,
      machineAddresses: readMachineAddresses,
      cores: availableParallelism(),
    });
  },
};
