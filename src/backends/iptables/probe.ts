import type { Exec } from "../../platform/linux/exec.ts";
import type { Sysctl } from "../../platform/linux/sysctl.ts";
import type { Finding, Machine } from "../backend.ts";
import { createIptablesTool, IPTABLES_MODES } from "./iptables-tool.ts";

/** What the probe looks at; tests give their own. */
export interface ProbeWorld {
  readonly exec: Exec;
  readonly sysctl: Sysctl;
  /** Undefined where there is no such file. */
  readonly readFile: (path: string) => Promise<string | undefined>;
}

const FORWARDING = ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"] as const;
/** How many clients the kernel remembers for an endpoint; the oldest are forgotten beyond that. */
const REMEMBERED = "/sys/module/xt_recent/parameters/ip_list_tot";
const ENOUGH_REMEMBERED = 1000;

/** What is missing here; touches nothing. */
export async function probeIptables(
  { os, isRoot }: Machine,
  { exec, sysctl, readFile }: ProbeWorld,
): Promise<readonly Finding[]> {
  if (os !== "linux") return [missing(`iptables is of Linux; this is ${os}`, "use --to userspace")];
  if (!isRoot) return [missing("only root may change the kernel's rules", "run it as root")];
  const problems = await unreadable(exec);
  if (problems.length > 0) return problems;
  const findings: Finding[] = [];
  for (const name of FORWARDING) {
    if ((await sysctl.read(name)) !== "0") continue;
    findings.push({
      severity: "degraded",
      what: `${name} is 0: what others send to services is not forwarded`,
      remedy: `sysctl -w ${name}=1`,
    });
  }
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
async function unreadable(exec: Exec): Promise<readonly Finding[]> {
  const reasons: string[] = [];
  for (const mode of IPTABLES_MODES) {
    try {
      // Asked for a table, the legacy tools make it.
      await createIptablesTool("v4", mode, exec).save(mode === "nft" ? "mangle" : undefined);
      return [];
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  return [
    missing(
      reasons.join("; "),
      "install iptables 1.8 or newer, and give it CAP_NET_ADMIN and a kernel with nf_tables or ip_tables",
    ),
  ];
}

function missing(what: string, remedy: string): Finding {
  return { severity: "missing", what, remedy };
}
