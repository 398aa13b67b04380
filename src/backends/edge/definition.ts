import { FAMILIES } from "../../core/model/address.ts";
import type { BackendDefinition } from "../backend.ts";
import { EDGE_OPTIONS, EDGE_SETS } from "./options.ts";

export const EDGE: BackendDefinition<typeof EDGE_OPTIONS> = {
  name: "edge",
  summary:
    "edge addresses of services, through a tunnel between machines; Linux, needs root and nft",
  options: EDGE_OPTIONS,
  capabilities: {
    addressTypes: ["edge-ip"],
    protocols: ["TCP", "UDP"],
    families: FAMILIES,
    affinity: "none",
    sourceRanges: false,
    internalLocal: false,
    externalLocal: false,
    weights: true,
    methods: ["round-robin", "weighted-round-robin"],
    requestHints: false,
    keepsSource: true,
  },
  sets: EDGE_SETS,
  probe: async (machine) => {
    const { probeEdge } = await import("./probe.ts");
    return probeEdge(machine);
  },
  preview: async (options, { nodeName }, ops) => {
    const { previewEdge } = await import("./preview.ts");
    return previewEdge(options, nodeName, ops);
  },
  explainLive: async (packet) => {
    const { explainLive } = await import("./explain-live.ts");
    return explainLive(packet);
  },
  create: async (options, context) => {
    const { createEdgeBackend } = await import("./edge-backend.ts");
    return createEdgeBackend(options, context);
  },
};
