import { CoreError, messageOf } from "../core/errors.ts";
import type { FindKubeProxy } from "../platform/linux/kube-proxy-presence.ts";
import type { Sysctl } from "../platform/linux/sysctl.ts";
import type { Finding } from "./backend.ts";

const FORWARDING = ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"] as const;

export function missing(what: string, remedy: string): Finding {
  return { severity: "missing", what, remedy };
}

/** What is told where nft does not tell its version. */
export function brokenNft(error: unknown): Finding {
  if (error instanceof CoreError && error.code === "ERR_NOT_POSSIBLE_HERE") {
    return missing(
      "there is no program nft",
      "install it: apt-get install nftables, dnf install nftables",
    );
  }
  return missing(
    `the program nft does not work: ${messageOf(error)}`,
    "see which one it is (command -v nft) and what becomes of nft --version; where it is broken, install the package nftables anew",
  );
}

/** What all backends in the kernel need of the machine around them. */
export async function surroundingFindings(
  sysctl: Pick<Sysctl, "read">,
  findKubeProxy: FindKubeProxy,
): Promise<readonly Finding[]> {
  return [...(await forwardingFindings(sysctl)), ...(await kubeProxyFindings(findKubeProxy))];
}

async function forwardingFindings(sysctl: Pick<Sysctl, "read">): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const name of FORWARDING) {
    if ((await sysctl.read(name)) !== "0") continue;
    findings.push({
      severity: "degraded",
      what: `${name} is 0: what others send to services is not forwarded`,
      remedy: `sysctl -w ${name}=1`,
    });
  }
  return findings;
}

/** It is refused at start, but for `--take-over`. */
async function kubeProxyFindings(find: FindKubeProxy): Promise<readonly Finding[]> {
  const seen = await find();
  if (seen === undefined) return [];
  return [
    {
      severity: "degraded",
      what: `kube-proxy runs here (${seen}) and serves the same services`,
      remedy:
        "stop it, then portolan cleanup --kube-proxy; or give --take-over where it is about to stop",
    },
  ];
}
