import type { FastWorld } from "./fast-world.ts";

/** A machine on which all packets go by the rules. */
export const NO_FAST_WORLD: FastWorld = {
  open: () => ({ kind: "obstacle", what: "rules are tested", remedy: "none" }),
  openTable: () => {
    throw new Error("there is no path");
  },
  openLinks: () => {
    throw new Error("there is no path");
  },
  every: () => () => undefined,
};
