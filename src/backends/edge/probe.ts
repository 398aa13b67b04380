import { accessSync, constants } from "node:fs";
import { systemExec } from "../../platform/linux/exec.ts";
import { createNft } from "../../platform/linux/nft/nft.ts";
import type { Finding, Machine } from "../backend.ts";
import { brokenNft, missing } from "../kernel-findings.ts";

const TUN = "/dev/net/tun";

/** What the probe looks at. */
export interface EdgeProbeWorld {
  canOpen(path: string): boolean;
  nftVersion(): Promise<string>;
}

const SYSTEM: EdgeProbeWorld = {
  canOpen: (path) => {
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
      return true;
    } catch {
      return false;
    }
  },
  nftVersion: () => createNft(systemExec).version(),
};

export async function probeEdge(
  { os, isRoot }: Machine,
  world: EdgeProbeWorld = SYSTEM,
): Promise<readonly Finding[]> {
  if (os !== "linux") return [missing(`this is ${os}, and the tunnel is of Linux`, "use Linux")];
  const version = await world.nftVersion().catch(brokenNft);
  return [
    ...(isRoot ? [] : [missing("only root may open a tunnel", "run it as root")]),
    ...(typeof version === "string" ? [] : [version]),
    ...(isRoot && !world.canOpen(TUN)
      ? [missing(`${TUN} can not be opened`, `modprobe tun; in a container give it ${TUN}`)]
      : []),
  ];
}
