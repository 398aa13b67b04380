import type { Sysctl } from "../platform/linux/sysctl.ts";

const ACCOUNTING = "net.netfilter.nf_conntrack_acct";

/** Who wants the packets of each tracked flow counted, in words. */
export async function findAccounting(sysctl: Pick<Sysctl, "read">): Promise<string | undefined> {
  const isOn = (await sysctl.read(ACCOUNTING)) === "1";
  return isOn ? `the accounting of tracked flows (${ACCOUNTING} is 1)` : undefined;
}
