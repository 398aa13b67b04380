import { F_GETPIPE_SZ, F_SETPIPE_SZ, O_CLOEXEC, O_NONBLOCK } from "./abi.ts";
import { fcntl, pipe2 } from "./io-calls.ts";
import { allocateNative } from "./native-memory.ts";

const ends = allocateNative(8);

export interface PipeEnds {
  readonly readEnd: number;
  readonly writeEnd: number;
  /** What the kernel gave: fewer than asked for where a user's pipe pages are used up (pipe(7)). */
  readonly capacityBytes: number;
}

/** pipe2(2), non-blocking; undefined where no descriptors are left. */
export function openPipe(wantedBytes: number): PipeEnds | undefined {
  if (pipe2(ends.address, O_CLOEXEC | O_NONBLOCK) < 0) return undefined;
  const readEnd = ends.view.getInt32(0, true);
  const writeEnd = ends.view.getInt32(4, true);
  const raised = fcntl(writeEnd, F_SETPIPE_SZ, wantedBytes);
  const capacityBytes = raised < 0 ? fcntl(writeEnd, F_GETPIPE_SZ, 0) : raised;
  return { readEnd, writeEnd, capacityBytes };
}
