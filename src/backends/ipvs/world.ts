import { CoreError } from "../../core/errors.ts";
import { createConntrackReconciler } from "../../platform/linux/conntrack/conntrack-reconciler.ts";
import { openConntrackTable } from "../../platform/linux/conntrack/conntrack-table.ts";
import { type Exec, systemExec } from "../../platform/linux/exec.ts";
import {
  type InstanceLock,
  isPlaneRunning,
  takeInstanceLock,
  takeKernelLock,
} from "../../platform/linux/instance-lock.ts";
import { openIpSets } from "../../platform/linux/ipset/ip-sets.ts";
import { type IpvsTable, openIpvsTable } from "../../platform/linux/ipvs/ipvs-table.ts";
import { createKernelModules, type KernelModules } from "../../platform/linux/kernel-modules.ts";
import { type FindKubeProxy, findKubeProxy } from "../../platform/linux/kube-proxy-presence.ts";
import { openServiceLink } from "../../platform/linux/links/service-link.ts";
import { type Sysctl, systemSysctl } from "../../platform/linux/sysctl.ts";
import type { OpenConntrack } from "../flow-keeper.ts";
import { type KernelClock, SYSTEM_CLOCK } from "../kernel-clock.ts";
import { type IpvsPlatform, LINK_NAME } from "./kernel/platform.ts";

/** What the backend takes from the machine; tests give their own. */
export interface IpvsWorld {
  readonly exec: Exec;
  readonly sysctl: Sysctl;
  readonly modules: KernelModules;
  readonly clock: KernelClock;
  readonly findKubeProxy: FindKubeProxy;
  readonly openConntrack: OpenConntrack;
  /** @throws CoreError ERR_NOT_POSSIBLE_HERE where the kernel has no IPVS */
  openPlatform(): Promise<IpvsPlatform>;
  /** The same for clean-up: a kernel without IPVS has no virtual servers. @throws CoreError */
  openLeftovers(): Promise<IpvsPlatform>;
  /** @throws CoreError ERR_NOT_POSSIBLE_HERE where another instance, or data plane of the kernel, holds it */
  takeLock(isForCleanup: boolean): InstanceLock;
  /** Whether the backend iptables, which has some chains in common with this one, is at work. */
  isIptablesRunning(): boolean;
}

/** Of the network namespace that this thread is in. @throws CoreError */
export async function openIpvsPlatform(): Promise<IpvsPlatform> {
  return platformWith(await openIpvsTable());
}

async function openLeftovers(): Promise<IpvsPlatform> {
  try {
    return await openIpvsPlatform();
  } catch (error) {
    if (!(error instanceof CoreError) || error.code !== "ERR_NOT_POSSIBLE_HERE") throw error;
    return platformWith(NO_SERVERS);
  }
}

function platformWith(ipvs: IpvsTable): IpvsPlatform {
  return { ipvs, sets: openIpSets(), link: openServiceLink(LINK_NAME) };
}

/** What a kernel without IPVS holds. */
const NO_SERVERS: IpvsTable = {
  servers: async () => [],
  destinations: async () => [],
  timeouts: async () => ({ tcp: 0, tcpFin: 0, udp: 0 }),
  change: async () => [],
  close: () => undefined,
};

export function openWorld(): IpvsWorld {
  return {
    exec: systemExec,
    sysctl: systemSysctl,
    modules: createKernelModules(),
    clock: SYSTEM_CLOCK,
    findKubeProxy,
    openConntrack: (options) =>
      createConntrackReconciler({ table: openConntrackTable(), ...options }),
    openPlatform: openIpvsPlatform,
    openLeftovers,
    takeLock: (isForCleanup) => (isForCleanup ? takeInstanceLock("ipvs") : takeKernelLock("ipvs")),
    isIptablesRunning: () => isPlaneRunning("iptables"),
  };
}
