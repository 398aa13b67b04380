import type { FastWorld } from "./fast-world.ts";
import type { FastProspect } from "./preview-fast.ts";

/** Nobody else has rules. */
export const NO_ONLOOKER = async (): Promise<undefined> => undefined;

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
  openForwarded: () => {
    throw new Error("there is no path");
  },
  findOnlooker: NO_ONLOOKER,
  every: () => () => undefined,
};
