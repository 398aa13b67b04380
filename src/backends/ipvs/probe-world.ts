import { systemExec } from "../../platform/linux/exec.ts";
import { openIpvsTable } from "../../platform/linux/ipvs/ipvs-table.ts";
import { createKernelModules } from "../../platform/linux/kernel-modules.ts";
import { findKubeProxy } from "../../platform/linux/kube-proxy-presence.ts";
import { systemSysctl } from "../../platform/linux/sysctl.ts";
import type { ProbeWorld } from "./probe.ts";

/** The machine that this runs on. */
export function createProbeWorld(): ProbeWorld {
  const modules = createKernelModules();
  return {
    exec: systemExec,
    sysctl: systemSysctl,
    modules,
    findKubeProxy,
    tryIpvs: async () => {
      await modules.ensure(["ip_vs"]);
      (await openIpvsTable()).close();
    },
  };
}
