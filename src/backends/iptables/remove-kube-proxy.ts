import type { Exec } from "../../platform/linux/exec.ts";
import { isKubeProxyChain } from "./plan/owned-chains.ts";
import { removeRules } from "./remove-rules.ts";

const NFT_TABLE = "kube-proxy";
const NFT_FAMILIES = ["ip", "ip6"] as const;

/**
 * Removes what a kube-proxy left: its chains of iptables, also those of its mode IPVS, and its tables
 * of nftables. Virtual servers of IPVS stay.
 */
export async function removeKubeProxy(exec: Exec): Promise<void> {
  await removeRules(exec, isKubeProxyChain);
  for (const family of NFT_FAMILIES) {
    // Without nft, or without the table, there is nothing to remove.
    await exec.run("nft", ["delete", "table", family, NFT_TABLE]).catch(() => undefined);
  }
}
