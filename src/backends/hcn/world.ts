import type { HcnCalls } from "../../platform/windows/hcn-calls.ts";
import {
  type InstanceLock,
  lockPath,
  takeInstanceLock,
} from "../../platform/windows/instance-lock.ts";
import { macOf } from "../../platform/windows/mac-of.ts";
import { type KernelClock, SYSTEM_CLOCK } from "../kernel-clock.ts";

/** What the backend takes from Windows; tests give their own. */
export interface HcnWorld {
  /** @throws CoreError ERR_NOT_POSSIBLE_HERE where there is no HCN */
  openCalls(): Promise<HcnCalls>;
  /** @throws CoreError ERR_NOT_POSSIBLE_HERE where another instance holds it */
  takeLock(): Promise<InstanceLock>;
  macOf(ip: string): string | undefined;
  readonly clock: KernelClock;
}

export function createWorld(): HcnWorld {
  return {
    openCalls: async () => {
      const { openComputeNetwork } = await import("../../platform/windows/compute-network.ts");
      return openComputeNetwork();
    },
    takeLock: () => takeInstanceLock("hcn", lockPath("hcn")),
    macOf,
    clock: SYSTEM_CLOCK,
  };
}
