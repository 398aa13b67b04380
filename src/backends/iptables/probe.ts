import { CoreError } from "../../core/errors.ts";
import type { Exec } from "../../platform/linux/exec.ts";
import { IPTABLES_MODES, tryRestore } from "../../platform/linux/iptables/iptables-tool.ts";
import type { FindKubeProxy } from "../../platform/linux/kube-proxy-presence.ts";
import type { Sysctl } from "../../platform/linux/sysctl.ts";
import type { Finding, Machine } from "../backend.ts";
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
const SAYS_DENIED = /Permission denied|Operation not permitted/;

/** What is missing here; touches nothing. */
export async function probeIptables(
  { os, isRoot }: Machine,
  { exec, sysctl, findKubeProxy, readFile }: ProbeWorld,
): Promise<readonly Finding[]> {
  if (os !== "linux") return [missing(`iptables is of Linux; this is ${os}`, "use --to userspace")];
  if (!isRoot) return [missing("only root may change the kernel's rules", "run it as root")];
  const problems = await unwritable(exec);
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

/** One implementation is enough; which one is decided later. */
async function unwritable(exec: Exec): Promise<readonly Finding[]> {
  const reasons: string[] = [];
  for (const mode of IPTABLES_MODES) {
    try {
      await tryRestore("v4", mode, exec);
      return [];
    } catch (error) {
      if (error instanceof CoreError && error.code === "ERR_NOT_POSSIBLE_HERE") continue;
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  if (reasons.length === 0) {
    return [
      missing(
        "there is neither iptables-nft-restore nor iptables-legacy-restore",
        "install iptables 1.8 or newer: apt-get install iptables, dnf install iptables-nft",
      ),
    ];
  }
  if (reasons.some((reason) => SAYS_DENIED.test(reason))) {
    return [missing("changing the kernel's rules is not permitted", "give it CAP_NET_ADMIN")];
  }
  return [
    missing(
      `rules can not be changed: ${reasons.join("; ")}`,
      "give it CAP_NET_ADMIN, and a kernel with nf_tables or ip_tables",
    ),
  ];
}
