import { FAMILIES } from "../../core/model/address.ts";
import { PROTOCOLS } from "../../core/model/common.ts";
import type { BackendDefinition } from "../backend.ts";
import { HCN_OPTIONS } from "./options.ts";

export const HCN: BackendDefinition<typeof HCN_OPTIONS> = {
  name: "hcn",
  summary: "load balancers in the virtual switch of Windows; needs an administrator",
  options: HCN_OPTIONS,
  capabilities: {
    addressTypes: ["cluster-ip", "external-ip", "load-balancer-ip", "node-port"],
    protocols: PROTOCOLS,
    families: FAMILIES,
    affinity: "sticky",
    sourceRanges: false,
    internalLocal: true,
    externalLocal: true,
    weights: false,
    methods: [],
    requestHints: false,
    keepsSource: true,
  },
  sets: ["nodes"],
  probe: async (machine) => {
    const { probeHcn } = await import("./probe.ts");
    const { existsSync } = await import("node:fs");
    const { computeNetworkPath } = await import("../../platform/windows/system-dll.ts");
    return probeHcn(machine, () => existsSync(computeNetworkPath()));
  },
  preview: async (options, context, ops) => {
    const { previewHcn } = await import("./preview.ts");
    const { createWorld } = await import("./world.ts");
    return previewHcn(options, context, ops, createWorld());
  },
  create: async (options, context) => {
    const { createHcnBackend } = await import("./hcn-backend.ts");
    const { createWorld } = await import("./world.ts");
    return createHcnBackend(options, context, createWorld());
  },
};
