import { type BackoffOptions, backoffMs } from "../core/backoff.ts";
import { messageOf } from "../core/errors.ts";
import type { AnnouncementState } from "./announcer.ts";

/** Time and chance. */
export interface RetryWorld {
  readonly random: () => number;
  /** Rejects where the signal ends it. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** An instance that nobody knows of should not be so for long. */
const BACKOFF: BackoffOptions = { firstMs: 100, maxMs: 5000 };

/**
 * Tries until the signal comes; what fails is told and tried again.
 * @param attempt calls `made` when it has succeeded, and goes on until it fails or the signal comes
 */
export async function retryUntil(
  attempt: (made: () => void) => Promise<void>,
  tell: (state: AnnouncementState) => void,
  signal: AbortSignal,
  { random, sleep }: RetryWorld,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await attempt(() => {
        failures = 0;
        tell({ isMade: true, problem: "" });
      });
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      tell({ isMade: false, problem: messageOf(error) });
      await sleep(backoffMs(BACKOFF, failures, random()), signal).catch(() => undefined);
    }
  }
}
