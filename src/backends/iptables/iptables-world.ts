import { readFile } from "node:fs/promises";
import { createConntrackReconciler } from "../../platform/linux/conntrack/conntrack-reconciler.ts";
import { openConntrackTable } from "../../platform/linux/conntrack/conntrack-table.ts";
import { openDirectPlane } from "../../platform/linux/direct-connect/open-direct-plane.ts";
import { type Exec, systemExec } from "../../platform/linux/exec.ts";
import {
  type InstanceLock,
  isPlaneRunning,
  takeInstanceLock,
  takeKernelLock,
} from "../../platform/linux/instance-lock.ts";
import { type FindKubeProxy, findKubeProxy } from "../../platform/linux/kube-proxy-presence.ts";
import { type NftGeneration, openNftGeneration } from "../../platform/linux/nft/nft-generation.ts";
import { NFT_TABLES, type NftTables } from "../../platform/linux/nft/nft-tables.ts";
import { type Sysctl, systemSysctl } from "../../platform/linux/sysctl.ts";
import type { OpenDirect } from "../direct-keeper.ts";
import { type FastWorld, findOnlookerHere, SYSTEM_FAST_WORLD } from "../fast-world.ts";
import type { OpenConntrack } from "../flow-keeper.ts";
import { type KernelClock, SYSTEM_CLOCK } from "../kernel-clock.ts";
import { probeDirectHere } from "../probe-direct-here.ts";
import { probeFastHere } from "../probe-fast-here.ts";
import type { PreviewWorld } from "./preview.ts";
import type { ProbeWorld } from "./probe.ts";

/** What the backend takes from the world; tests give their own. */
export interface IptablesWorld {
  readonly exec: Exec;
  readonly clock: KernelClock;
  readonly findKubeProxy: FindKubeProxy;
  /** @throws CoreError ERR_NOT_POSSIBLE_HERE where another instance, or data plane of the kernel, holds it */
  readonly takeLock: (isForCleanup: boolean) => InstanceLock;
  /** Whether the backend ipvs, which has some chains in common with this one, is at work. */
  readonly isIpvsRunning: () => boolean;
  readonly sysctl: Sysctl;
  readonly openConntrack: OpenConntrack;
  readonly openGeneration: () => NftGeneration;
  readonly nftTables: NftTables;
  readonly openDirect: OpenDirect;
  readonly fast: FastWorld;
}

/** The machine that this runs on. */
export function createWorld(): IptablesWorld {
  return {
    exec: systemExec,
    clock: SYSTEM_CLOCK,
    findKubeProxy,
    takeLock: (isForCleanup) =>
      isForCleanup ? takeInstanceLock("iptables") : takeKernelLock("iptables"),
    isIpvsRunning: () => isPlaneRunning("ipvs"),
    sysctl: systemSysctl,
    openGeneration: openNftGeneration,
    nftTables: NFT_TABLES,
    openDirect: openDirectPlane,
    fast: SYSTEM_FAST_WORLD,
    openConntrack: (options) =>
      createConntrackReconciler({ table: openConntrackTable(), ...options }),
  };
}

export function createProbeWorld(): ProbeWorld & PreviewWorld {
  return {
    exec: systemExec,
    sysctl: systemSysctl,
    nftTables: NFT_TABLES,
    findKubeProxy,
    probeDirect: probeDirectHere,
    probeFast: probeFastHere,
    findOnlooker: findOnlookerHere,
    readFile: (path) => readFile(path, "utf8").catch(() => undefined),
  };
}
