import { CoreError } from "../../core/errors.ts";
import type { Exec } from "../../platform/linux/exec.ts";
import type { FindKubeProxy } from "../../platform/linux/kube-proxy-presence.ts";
import type { Sysctl } from "../../platform/linux/sysctl.ts";
import type { Finding, Machine } from "../backend.ts";
import { iptablesFindings } from "../iptables-findings.ts";
import { missing, surroundingFindings } from "../kernel-findings.ts";

/** What the probe looks at; tests give their own. */
export interface ProbeWorld {
  readonly exec: Exec;
  readonly sysctl: Sysctl;
  readonly findKubeProxy: FindKubeProxy;
  /** Asks the kernel for IPVS, which loads its module where there is one. @throws CoreError */
  tryIpvs(): Promise<void>;
}

/** What is missing here. */
export async function probeIpvs(
  { os, isRoot }: Machine,
  { exec, sysctl, findKubeProxy, tryIpvs }: ProbeWorld,
): Promise<readonly Finding[]> {
  if (os !== "linux") return [missing(`IPVS is of Linux; this is ${os}`, "use --to userspace")];
  if (!isRoot) return [missing("only root may change the kernel's rules", "run it as root")];
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
  return surroundingFindings(sysctl, findKubeProxy);
}
