import { FAMILIES } from "../../core/model/address.ts";
import { PROTOCOLS } from "../../core/model/common.ts";
import { BALANCING_METHODS } from "../../core/model/group.ts";
import { ADDRESS_TYPES } from "../../core/route/verdict.ts";
import { FURTHER_SETS } from "../../core/sinks/decoder.ts";
import type { BackendDefinition } from "../backend.ts";
import { PRINT_OPTIONS } from "./options.ts";

export const PRINT: BackendDefinition<typeof PRINT_OPTIONS> = {
  name: "print",
  summary: "prints what this node is sent, for people and for scripts",
  options: PRINT_OPTIONS,
  capabilities: {
    addressTypes: ADDRESS_TYPES,
    protocols: PROTOCOLS,
    families: FAMILIES,
    affinity: "with-timeout",
    sourceRanges: true,
    internalLocal: true,
    externalLocal: true,
    weights: true,
    methods: BALANCING_METHODS,
    requestHints: true,
    keepsSource: true,
  },
  sets: FURTHER_SETS,
  probe: async () => [],
  create: async (options, context) => {
    const { createPrintBackend } = await import("./print-backend.ts");
    return createPrintBackend(options, context);
  },
};
