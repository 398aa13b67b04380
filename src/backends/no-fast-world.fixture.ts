import type { FastWorld } from "./fast-world.ts";
import type { FastProspect } from "./preview-fast.ts";

export const NO_PROSPECT: FastProspect & { readonly kind: "obstacle" } = {
  kind: "obstacle",
  what: "rules are tested",
  remedy: "none",
};

/** A machine on which all packets go by the rules. */
export const NO_FAST_WORLD: FastWorld = {
  open: () => NO_PROSPECT,
  openTable: () => {
    throw new Error("there is no path");
  },
  openLinks: () => {
    throw new Error("there is no path");
  },
  every: () => () => undefined,
};
