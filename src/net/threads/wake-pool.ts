import { openEventFd, signalEventFd } from "../../platform/linux/event-fd.ts";

/**
 * The eventfds of all loops. One that was used is never closed but used again: a late signal to a
 * loop that is gone then wakes another one for nothing, instead of writing into a stranger's descriptor.
 */
export class WakePool {
  readonly #free: number[] = [];

  take(): number {
    return this.#free.pop() ?? openEventFd();
  }

  giveBack(descriptor: number): void {
    this.#free.push(descriptor);
  }

  wake(descriptor: number): void {
    signalEventFd(descriptor);
  }
}
