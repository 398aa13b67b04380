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
  /** Undefined where there is no such file. */
  readonly readFile: (path: string) => Promise<string | undefined>;
}

/** How many clients the kernel remembers for an endpoint; the oldest are forgotten beyond that. */
const REMEMBERED = "/sys/module/xt_recent/parameters/ip_list_tot";
const ENOUGH_REMEMBERED = 1000;

/** What is missing here; touches nothing. */
export async function probeIptables(
  { os, isRoot }: Machine,
  { exec, sysctl, findKubeProxy, readFile }: ProbeWorld,
): Promise<readonly Finding[]> {
  if (os !== "linux") return [missing(`iptables is of Linux; this is ${os}`, "use --to userspace")];
  if (!isRoot) return [missing("only root may change the kernel's rules", "run it as root")];
  const problems = await iptablesFindings(exec);
  if (problems.length > 0) return problems;
  const findings = [...(await surroundingFindings(sysctl, findKubeProxy))];
  const remembered = Number((await readFile(REMEMBERED)) ?? ENOUGH_REMEMBERED);
  if (remembered < ENOUGH_REMEMBERED) {
    findings.push({
      severity: "degraded",
      what: `session affinity remembers ${remembered} clients of each endpoint, and forgets the oldest`,
      remedy: `load the kernel's module with more: options xt_recent ip_list_tot=10000 in /etc/modprobe.d (at boot: xt_recent.ip_list_tot=10000)`,
    });
  }
  return findings;
}
