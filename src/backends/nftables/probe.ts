import { CoreError } from "../../core/errors.ts";
import { FAMILIES } from "../../core/model/address.ts";
import { DEFAULT_ROUTE_POLICY } from "../../core/route/route-policy.ts";
import type { FindKubeProxy } from "../../platform/linux/kube-proxy-presence.ts";
import { isDenied, type Nft } from "../../platform/linux/nft/nft.ts";
import type { Sysctl } from "../../platform/linux/sysctl.ts";
import type { Finding, Machine } from "../backend.ts";
import { brokenNft, missing, surroundingFindings } from "../kernel-findings.ts";
import { NFTABLES_OPTIONS } from "./options.ts";
import { tableFacts } from "./plan/table-facts.ts";
import { TablePlanner } from "./plan/table-planner.ts";

export interface ProbeWorld {
  readonly nft: Nft;
  readonly sysctl: Sysctl;
  readonly findKubeProxy: FindKubeProxy;
  /** Version of the kernel, as `uname -r` tells it. */
  readonly kernel: string;
}

/** The first that know all that the rules use. */
const OLDEST_NFT = "1.0.1";
const OLDEST_KERNEL = "5.13";

/** A table that is not there: what is in ours, perhaps of another version, says nothing of the kernel. */
const PROBED_TABLE = "portolan-probe";

/** What is missing here; touches nothing. */
export async function probeNftables(
  { os, isRoot }: Machine,
  world: ProbeWorld,
): Promise<readonly Finding[]> {
  if (os !== "linux") {
    return [missing(`nftables is of Linux; this is ${os}`, "use --to userspace")];
  }
  const version = await world.nft.version().catch(brokenNft);
  if (typeof version !== "string") return [version];
  if (isOlder(version, OLDEST_NFT)) {
    return [missing(`nft ${version} is too old`, `install nft ${OLDEST_NFT} or newer`)];
  }
  if (isOlder(world.kernel, OLDEST_KERNEL)) {
    return [missing(`kernel ${world.kernel} is too old`, `boot ${OLDEST_KERNEL} or newer`)];
  }
  if (!isRoot) return [missing("only root may change the kernel's rules", "run it as root")];
  return [
    ...(await probeRules(world.nft)),
    ...(await surroundingFindings(world.sysctl, world.findKubeProxy)),
  ];
}

/** Lets the kernel look at all rules that do not depend on services. */
async function probeRules(nft: Nft): Promise<readonly Finding[]> {
  const settings = {
    nodeName: "",
    policy: DEFAULT_ROUTE_POLICY,
    masqueradeBit: NFTABLES_OPTIONS.iptablesMasqueradeBit.default,
    podInterfacePrefixes: [],
  };
  const scripts = FAMILIES.map((family) =>
    new TablePlanner(tableFacts(family, settings, undefined, false), PROBED_TABLE).fullScript(
      undefined,
    ),
  );
  try {
    await nft.check(scripts.join(""));
    return [];
  } catch (error) {
    if (isDenied(error)) {
      return [missing("changing the kernel's rules is not permitted", "give it CAP_NET_ADMIN")];
    }
    const why = error instanceof CoreError ? error.message : String(error);
    return [
      missing(`the kernel refuses the rules: ${why}`, "load its modules nf_tables and nft_*"),
    ];
  }
}

/** Compares the leading numbers of versions: `5.9` is older than `5.13`. */
function isOlder(version: string, than: string): boolean {
  const numbers = (text: string) => (/^[\d.]+/.exec(text)?.[0] ?? "").split(".").map(Number);
  const own = numbers(version);
  for (const [index, wanted] of numbers(than).entries()) {
    const number = own[index] ?? 0;
    if (number !== wanted) return number < wanted;
  }
  return false;
}
