import type { TableReaders } from "../../platform/linux/nft/list-table.ts";
import type { OwnRules } from "../../platform/linux/onlookers.ts";
import type { BackendDefinition } from "../backend.ts";
import { KERNEL_CAPABILITIES, KERNEL_SETS } from "../kernel-options.ts";
import { NFTABLES_OPTIONS } from "./options.ts";

export const NFTABLES: BackendDefinition<typeof NFTABLES_OPTIONS> = {
  name: "nftables",
  summary: "maps in the Linux kernel; needs root and nft",
  options: NFTABLES_OPTIONS,
  capabilities: {
    ...KERNEL_CAPABILITIES,
    methods: ["random", "round-robin", "weighted-round-robin", "source-hash"],
  },
  sets: KERNEL_SETS,
  probe: async (machine) => {
    const { probeNftables } = await import("./probe.ts");
    const { createNft } = await import("../../platform/linux/nft/nft.ts");
    const { systemExec } = await import("../../platform/linux/exec.ts");
    const { systemSysctl } = await import("../../platform/linux/sysctl.ts");
    const { findKubeProxy } = await import("../../platform/linux/kube-proxy-presence.ts");
    const { release } = await import("node:os");
    const nft = createNft(systemExec);
    return probeNftables(machine, { nft, sysctl: systemSysctl, findKubeProxy, kernel: release() });
  },
  preview: async (options, { nodeName }, ops) => {
    const { previewNftables } = await import("./preview.ts");
    const { createNft } = await import("../../platform/linux/nft/nft.ts");
    const { systemExec } = await import("../../platform/linux/exec.ts");
    const { systemSysctl } = await import("../../platform/linux/sysctl.ts");
    const { openNftElements } = await import("../../platform/linux/nft/nft-elements.ts");
    const { probeDirectHere } = await import("../probe-direct-here.ts");
    const { probeFastHere } = await import("../probe-fast-here.ts");
    const nft = createNft(systemExec);
    // Opened where there is something to read: a dry run works on any system.
    let opened: ReturnType<typeof openNftElements> | undefined;
    const elements: TableReaders["elements"] = {
      list: (...asked) => {
        opened ??= openNftElements();
        return opened.list(...asked);
      },
    };
    try {
      const probes = {
        probeDirect: probeDirectHere,
        probeFast: probeFastHere,
        findOnlooker: async (own: OwnRules) =>
          (await import("../fast-world.ts")).findOnlookerHere(own),
      };
      const world = { nft, elements, sysctl: systemSysctl, ...probes };
      return await previewNftables(options, nodeName, ops, world);
    } finally {
      opened?.close();
    }
  },
  explainLive: async (packet) => (await import("../linux-live-answer.ts")).linuxLiveAnswer(packet),
  create: async (options, context) => {
    const { createNftablesBackend } = await import("./nftables-backend.ts");
    const { openWorld } = await import("./world.ts");
    return createNftablesBackend(options, context, openWorld());
  },
};
