import { setTimeout as wait } from "node:timers/promises";
import type { InstanceDeps } from "./instance-deps.ts";

/** Time and chance as they are. */
export const WORLD: Pick<InstanceDeps, "random" | "sleep"> = {
  random: () => Math.random(),
  sleep: async (ms, signal) => {
    await wait(ms, undefined, { signal });
  },
};
