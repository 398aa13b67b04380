import { CoreError } from "../core/errors.ts";
import type { InstanceDeps } from "./instance-deps.ts";

const PATIENCE_MS = 15_000;
const STEP_MS = 100;

/** Tries again for a while where an address is taken: the process before this one lets go of it. */
export async function patiently(
  act: () => Promise<void>,
  { sleep }: Pick<InstanceDeps, "sleep">,
  signal: AbortSignal,
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += STEP_MS) {
    try {
      return await act();
    } catch (error) {
      const isTaken = error instanceof CoreError && error.code === "ERR_LISTEN";
      if (!isTaken || waitedMs >= PATIENCE_MS) throw error;
      await sleep(STEP_MS, signal);
    }
  }
}
