import { closeSync, openSync, writeSync } from "node:fs";

/** Documentation/power/pm_qos_interface.rst: who holds it open says how many microseconds a processor may take to wake. */
const DEVICE = "/dev/cpu_dma_latency";
const AT_ONCE = new Uint8Array(4);

/**
 * Has the processors of this machine wait for work awake while it is held, instead of sleeping: what a packet
 * wakes begins tens of microseconds earlier, and the machine takes more power meanwhile. What has to run runs as
 * before. It ends with the process.
 */
export class AwakeProcessors {
  #descriptor: number | undefined;

  /** Twice is once. @throws Error where this machine has no such device, or this user may not use it */
  hold(): void {
    if (this.#descriptor !== undefined) return;
    const descriptor = openSync(DEVICE, "r+");
    try {
      writeSync(descriptor, AT_ONCE);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    this.#descriptor = descriptor;
  }

  release(): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
