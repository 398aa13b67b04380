import { FAMILIES } from "../../core/model/address.ts";
import type { IpSets } from "../../platform/linux/ipset/ip-sets.ts";
import type { IpvsTable } from "../../platform/linux/ipvs/ipvs-table.ts";
import type { ServiceLink } from "../../platform/linux/links/service-link.ts";
import type { VirtualServer } from "../../wire/netlink/ipvs/virtual-server.ts";
import { joinFailures } from "../join-failures.ts";
import { KUBE_PROXY_SETS, type KubeProxySet } from "./kube-proxy-sets.ts";
import { isGone } from "./remove-all.ts";

/** What is looked at and changed, all of one network namespace. */
export interface KubeProxyTraces {
  readonly link: Pick<ServiceLink, "exists" | "addresses" | "remove">;
  readonly sets: Pick<IpSets, "entries" | "change">;
  /** Only where there is something of a kube-proxy: asking for IPVS loads it. */
  openIpvs(): Promise<Pick<IpvsTable, "servers" | "change" | "close">>;
}

/**
 * Removes what a kube-proxy in mode IPVS left, but for its rules, which look into its sets and go before:
 * virtual servers at the addresses of its link, those of its node ports, the link, and its sets. What is
 * of others stays. Succeeds where there is nothing.
 * @throws CoreError ERR_SYSTEM_CALL where something may be left
 */
export async function removeKubeProxyServers(traces: KubeProxyTraces): Promise<void> {
  const { link, sets } = traces;
  const there: KubeProxySet[] = [];
  const nodePorts = new Set<string>();
  for (const set of KUBE_PROXY_SETS) {
    const entries = await sets.entries(set.name);
    if (entries === undefined) continue;
    there.push(set);
    const { family, nodePorts: protocol } = set;
    if (protocol === undefined) continue;
    for (const { port } of entries) nodePorts.add(`${family} ${protocol} ${port}`);
  }
  const hasLink = await link.exists();
  if (there.length === 0 && !hasLink) return;
  const refused = await removeServers(traces, nodePorts);
  if (hasLink) await link.remove();
  refused.push(...(await sets.change(there.map((set) => ({ kind: "destroy", set })))));
  const failures = refused.filter((one) => !isGone(one)).map(({ error }) => error);
  if (failures.length > 0) throw joinFailures("ERR_SYSTEM_CALL", failures);
}

async function removeServers(
  { link, openIpvs }: KubeProxyTraces,
  nodePorts: ReadonlySet<string>,
): Promise<Awaited<ReturnType<IpvsTable["change"]>>[number][]> {
  const own = new Set<string>();
  const nodes = new Set<string>();
  for (const family of FAMILIES) {
    const addresses = await link.addresses(family);
    for (const ip of addresses.own) own.add(ip);
    for (const ip of addresses.others) nodes.add(ip);
  }
  const isKubeProxys = ({ family, place }: VirtualServer): boolean => {
    if ("mark" in place) return false;
    if (own.has(place.ip)) return true;
    return nodes.has(place.ip) && nodePorts.has(`${family} ${place.protocol} ${place.port}`);
  };
  const ipvs = await openIpvs();
  try {
    const going = (await ipvs.servers()).filter(isKubeProxys);
    return [...(await ipvs.change(going.map((server) => ({ kind: "deleteService", server }))))];
  } finally {
    ipvs.close();
  }
}
