import { EFD_CLOEXEC, EFD_NONBLOCK } from "./abi.ts";
import { eventfd, write } from "./io-calls.ts";
import { allocateNative } from "./native-memory.ts";
import { checked } from "./system-error.ts";

const COUNTER_BYTES = 8;

const one = allocateNative(COUNTER_BYTES);
one.view.setUint8(0, 1);

/** eventfd(2): a descriptor by which any thread of the process wakes one that waits. */
export function openEventFd(): number {
  return checked("eventfd", eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

/** Makes it readable, once more where it already is; 0 or a negative errno. */
export function signalEventFd(descriptor: number): number {
  return Math.min(0, write(descriptor, one.address, COUNTER_BYTES));
}
