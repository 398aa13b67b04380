import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

const NANOSECONDS = 1e9;

/** The number of the thread that calls, for the whole system; undefined where there is no `/proc`. See proc(5). */
export function ownThreadId(): number | undefined {
  try {
    return Number(basename(readlinkSync("/proc/thread-self")));
  } catch {
    return undefined;
  }
}

/**
 * CPU time that a thread of this process has had so far. Undefined where it has ended, or where the kernel
 * does not count it: the first number of `schedstat` is that time in nanoseconds.
 */
export function threadCpuSeconds(threadId: number): number | undefined {
  try {
    const [ran] = readFileSync(`/proc/self/task/${threadId}/schedstat`, "utf8").split(" ");
    const seconds = Number(ran) / NANOSECONDS;
    return Number.isFinite(seconds) ? seconds : undefined;
  } catch {
    return undefined;
  }
}
