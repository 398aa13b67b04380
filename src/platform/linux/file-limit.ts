import { RLIMIT_BYTES, RLIMIT_NOFILE } from "./abi.ts";
import { allocateNative, getSize } from "./native-memory.ts";
import { prlimit } from "./process-calls.ts";
import { checked } from "./system-error.ts";

const HARD = 8;

/** Raises the limit of open descriptors as far as the system lets it, and returns it; getrlimit(2). */
export function raiseFileLimit(): number {
  const limit = allocateNative(RLIMIT_BYTES);
  checked("prlimit", prlimit(RLIMIT_NOFILE, 0, limit.address), "RLIMIT_NOFILE");
  const soft = getSize(limit.view, 0);
  const hard = getSize(limit.view, HARD);
  limit.bytes.copyWithin(0, HARD, HARD + 8);
  // Some containers forbid it: what there is must do then.
  return prlimit(RLIMIT_NOFILE, limit.address, 0) < 0 ? soft : hard;
}
