import { CoreError } from "../../core/errors.ts";
import { type Exec, execChecked } from "../../platform/linux/exec.ts";
import { removeRules } from "../../platform/linux/iptables/remove-rules.ts";
import { isNotFound } from "../../platform/linux/nft/nft.ts";
import { joinFailures } from "../join-failures.ts";
import { isKubeProxyChain } from "../kube-chains.ts";
import { planRemoval } from "./plan/plan-removal.ts";

const NFT_TABLE = "kube-proxy";
const NFT_FAMILIES = ["ip", "ip6"] as const;

/**
 * Removes the rules that a kube-proxy left: its chains of iptables, also those of its mode IPVS, and its
 * tables of nftables. Succeeds where there is nothing.
 * @throws CoreError ERR_PROGRAM_FAILED where something may be left; the rest is removed all the same
 */
export async function removeKubeProxy(exec: Exec): Promise<void> {
  const failures: unknown[] = [];
  const attempt = (work: Promise<void>): Promise<unknown> =>
    work.catch((error: unknown) => failures.push(error));
  await attempt(removeRules(exec, (actual) => planRemoval(actual, isKubeProxyChain)));
  for (const family of NFT_FAMILIES) await attempt(removeTable(exec, family));
  if (failures.length > 0) throw joinFailures("ERR_PROGRAM_FAILED", failures);
}

/** Without nft, or without the table, there is nothing to remove. */
async function removeTable(exec: Exec, family: string): Promise<void> {
  try {
    await execChecked(exec, "nft", ["delete", "table", family, NFT_TABLE]);
  } catch (error) {
    const isWithoutNft = error instanceof CoreError && error.code === "ERR_NOT_POSSIBLE_HERE";
    if (!isWithoutNft && !isNotFound(error)) throw error;
  }
}
