import type { GroupLoop } from "./event-loop-wrapper.ts";

export interface EndOptions {
  /** What is open may end by itself for so long; 0: it is cut. */
  readonly drainTimeoutMs: number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Drains a loop and stops it. */
export async function endLoop(loop: GroupLoop, options: EndOptions): Promise<void> {
  const { drainTimeoutMs, sleep } = options;
  // One that dies while it drains has ended all the same.
  const drained = loop.drain().catch(() => undefined);
  if (drainTimeoutMs > 0) await Promise.race([drained, sleep(drainTimeoutMs)]);
  await loop.stop();
}
