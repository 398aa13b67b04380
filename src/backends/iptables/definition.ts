import type { BackendDefinition } from "../backend.ts";
import { KERNEL_CAPABILITIES, KERNEL_SETS } from "../kernel-options.ts";
import { IPTABLES_OPTIONS } from "./options.ts";

export const IPTABLES: BackendDefinition<typeof IPTABLES_OPTIONS> = {
  name: "iptables",
  summary: "rules of the Linux kernel by iptables, in kube-proxy's chains; needs root",
  options: IPTABLES_OPTIONS,
  capabilities: { ...KERNEL_CAPABILITIES, methods: ["random"] },
  sets: KERNEL_SETS,
  probe: async (machine) => {
    const { probeIptables } = await import("./probe.ts");
    const { createProbeWorld } = await import("./iptables-world.ts");
    return probeIptables(machine, createProbeWorld());
  },
  preview: async (options, context, ops) => {
    const { previewIptables } = await import("./preview.ts");
    const { createProbeWorld } = await import("./iptables-world.ts");
    return previewIptables(options, context, ops, createProbeWorld());
  },
  explainLive: async (packet) => (await import("../linux-live-answer.ts")).linuxLiveAnswer(packet),
  create: async (options, context) => {
    const { createIptablesBackend } = await import("./create-iptables-backend.ts");
    const { createWorld } = await import("./iptables-world.ts");
    return createIptablesBackend(options, context, createWorld());
  },
};
