import { CoreError, messageOf } from "../core/errors.ts";
import { type Exec, isComplaint } from "../platform/linux/exec.ts";
import { IPTABLES_MODES, tryRestore } from "../platform/linux/iptables/iptables-tool.ts";
import type { Finding } from "./backend.ts";
import { missing } from "./kernel-findings.ts";

const SAYS_DENIED = /Permission denied|Operation not permitted/;

/** Why rules can not be changed by iptables here. One implementation is enough; which one is decided later. */
export async function iptablesFindings(exec: Exec): Promise<readonly Finding[]> {
  const reasons: string[] = [];
  let saysWhy = false;
  for (const mode of IPTABLES_MODES) {
    try {
      await tryRestore("v4", mode, exec);
      return [];
    } catch (error) {
      if (error instanceof CoreError && error.code === "ERR_NOT_POSSIBLE_HERE") continue;
      reasons.push(messageOf(error));
      saysWhy ||= isComplaint(error);
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
      saysWhy
        ? "give it CAP_NET_ADMIN, and a kernel with nf_tables or ip_tables"
        : "see what becomes of iptables-nft-restore --version and iptables-legacy-restore --version; where they are broken, install the package iptables anew",
    ),
  ];
}
