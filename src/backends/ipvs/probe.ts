import { CoreError } from "../../core/errors.ts";
import type { Exec } from "../../platform/linux/exec.ts";
import type { KernelModules } from "../../platform/linux/kernel-modules.ts";
import type { FindKubeProxy } from "../../platform/linux/kube-proxy-presence.ts";
import type { Sysctl } from "../../platform/linux/sysctl.ts";
import type { Finding, Machine, ProbePurpose } from "../backend.ts";
import { iptablesFindings } from "../iptables-findings.ts";
import { missing, surroundingFindings } from "../kernel-findings.ts";
import { absentModules, remedyFor } from "./kernel/modules.ts";

/** What the probe looks at; tests give their own. */
export interface ProbeWorld {
  readonly exec: Exec;
  readonly sysctl: Sysctl;
  readonly modules: KernelModules;
  readonly findKubeProxy: FindKubeProxy;
  /** Asks the kernel for IPVS, which loads its module where there is one. @throws CoreError */
  tryIpvs(): Promise<void>;
}

/** What is missing here. */
export async function probeIpvs(
  { os, isRoot }: Machine,
  { exec, sysctl, modules, findKubeProxy, tryIpvs }: ProbeWorld,
  purpose: ProbePurpose = "run",
): Promise<readonly Finding[]> {
  if (os !== "linux") return [missing(`IPVS is of Linux; this is ${os}`, "use --to userspace")];
  if (!isRoot) return [missing("only root may change the kernel's rules", "run it as root")];
  // Rules, sets and the link may have been left where there is no IPVS any more.
  if (purpose === "clean-up") return [];
  try {
    await tryIpvs();
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    return [
      missing(
        error.message,
        "modprobe ip_vs, or boot a kernel with CONFIG_IP_VS and CONFIG_IP_SET; or use --to nftables",
      ),
    ];
  }
  const unwritable = await iptablesFindings(exec);
  if (unwritable.length > 0) return unwritable;
  const surroundings = await surroundingFindings(sysctl, findKubeProxy);
  return [...moduleFindings(modules), ...surroundings];
}

function moduleFindings(modules: KernelModules): readonly Finding[] {
  const { needed, schedulers } = absentModules(modules);
  const words = {
    needed: `modules of the kernel are missing: ${needed.join(", ")}`,
    schedulers: `schedulers are missing (${schedulers.join(", ")}): services that ask for them are not served`,
  };
  return [
    ...(needed.length === 0 ? [] : [missing(words.needed, remedyFor(needed))]),
    ...(schedulers.length === 0 ? [] : [degraded(words.schedulers, remedyFor(schedulers))]),
  ];
}

function degraded(what: string, remedy: string): Finding {
  return { severity: "degraded", what, remedy };
}
