import { FAMILIES, type Family } from "../core/model/address.ts";
import type { Sysctl } from "../platform/linux/sysctl.ts";

type ReadSysctl = Pick<Sysctl, "read">;

/** A kernel may be without IPv6. */
export async function familiesOf(sysctl: ReadSysctl): Promise<readonly Family[]> {
  return (await sysctl.read("net.ipv6.conf.all.forwarding")) === undefined ? ["v4"] : FAMILIES;
}

/** Whether the kernel was told that packets out of a connection's window are no harm. */
export async function isLiberal(sysctl: ReadSysctl): Promise<boolean> {
  const liberal = await sysctl.read("net.netfilter.nf_conntrack_tcp_be_liberal");
  return liberal !== undefined && liberal !== "0";
}
