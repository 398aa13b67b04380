import type { ConntrackReconciler } from "../../platform/linux/conntrack/conntrack-reconciler.ts";
import { createConntrackReconciler } from "../../platform/linux/conntrack/conntrack-reconciler.ts";
import { openConntrackTable } from "../../platform/linux/conntrack/conntrack-table.ts";
import { openDirectPlane } from "../../platform/linux/direct-connect/open-direct-plane.ts";
import { systemExec } from "../../platform/linux/exec.ts";
import {
  type InstanceLock,
  takeInstanceLock,
  takeKernelLock,
} from "../../platform/linux/instance-lock.ts";
import { type FindKubeProxy, findKubeProxy } from "../../platform/linux/kube-proxy-presence.ts";
import { createNft, type Nft } from "../../platform/linux/nft/nft.ts";
import { type NftElements, openNftElements } from "../../platform/linux/nft/nft-elements.ts";
import { type NftGeneration, openNftGeneration } from "../../platform/linux/nft/nft-generation.ts";
import { type Sysctl, systemSysctl } from "../../platform/linux/sysctl.ts";
import type { OpenDirect } from "../direct-keeper.ts";
import { type FastWorld, SYSTEM_FAST_WORLD } from "../fast-world.ts";
import { type KernelClock, SYSTEM_CLOCK } from "../kernel-clock.ts";
import { TRACKED_TYPES } from "../kernel-options.ts";

/** What the backend takes from the kernel of its network namespace; tests give their own. */
export interface NftablesWorld {
  readonly nft: Nft;
  readonly elements: NftElements;
  readonly generation: NftGeneration;
  readonly sysctl: Sysctl;
  readonly findKubeProxy: FindKubeProxy;
  /** @throws CoreError ERR_NOT_POSSIBLE_HERE where another instance, or data plane of the kernel, holds it */
  takeLock(isForCleanup: boolean): InstanceLock;
  createConntrack(answersNodePorts: (ip: string) => boolean): ConntrackReconciler;
  readonly openDirect: OpenDirect;
  readonly fast: FastWorld;
  readonly clock: KernelClock;
}

export function openWorld(): NftablesWorld {
  return {
    nft: createNft(systemExec),
    elements: openNftElements(),
    generation: openNftGeneration(),
    sysctl: systemSysctl,
    findKubeProxy,
    takeLock: (isForCleanup) =>
      isForCleanup ? takeInstanceLock("nftables") : takeKernelLock("nftables"),
    createConntrack: (answersNodePorts) =>
      createConntrackReconciler({
        table: openConntrackTable(),
        addressTypes: TRACKED_TYPES,
        answersNodePorts,
      }),
    openDirect: openDirectPlane,
    fast: SYSTEM_FAST_WORLD,
    clock: SYSTEM_CLOCK,
  };
}
