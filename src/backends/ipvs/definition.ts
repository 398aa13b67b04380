import type { BackendDefinition } from "../backend.ts";
import { KERNEL_CAPABILITIES, KERNEL_SETS } from "../kernel-options.ts";
import { IPVS_OPTIONS } from "./options.ts";

export const IPVS: BackendDefinition<typeof IPVS_OPTIONS> = {
  name: "ipvs",
  summary: "virtual servers of the Linux kernel; needs root, IPVS and iptables",
  options: IPVS_OPTIONS,
  capabilities: {
    ...KERNEL_CAPABILITIES,
    methods: ["random", "round-robin", "weighted-round-robin", "least-connections", "source-hash"],
  },
  sets: KERNEL_SETS,
  probe: async (machine, purpose) => {
    const { probeIpvs } = await import("./probe.ts");
    const { createProbeWorld } = await import("./probe-world.ts");
    return probeIpvs(machine, createProbeWorld(), purpose);
  },
  preview: async (options, context, ops) => {
    const { previewIpvs } = await import("./preview.ts");
    const { openWorld } = await import("./world.ts");
    return previewIpvs(options, context, ops, openWorld());
  },
  explainLive: async (packet) => {
    const { explainIpvs } = await import("./explain-live.ts");
    const { openIpvsPlatform } = await import("./world.ts");
    const { systemExec } = await import("../../platform/linux/exec.ts");
    const { NFT_TABLES } = await import("../../platform/linux/nft/nft-tables.ts");
    const platform = await openIpvsPlatform();
    try {
      return await explainIpvs(packet, platform, {
        exec: systemExec,
        listTables: NFT_TABLES.list,
      });
    } finally {
      platform.ipvs.close();
      platform.sets.close();
      platform.link.close();
    }
  },
  create: async (options, context) => {
    const { createIpvsBackend } = await import("./create-ipvs-backend.ts");
    const { openWorld } = await import("./world.ts");
    return createIpvsBackend(options, context, openWorld());
  },
};
