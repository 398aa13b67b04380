/**
 * The kernel's rules for a node's services: how long nftables and iptables take to have them, beside
 * kube-proxy's layout and the tools by themselves, and what they cost the traffic. Needs root; all
 * happens in network namespaces that it makes.
 *
 *     npm run bench -- netfilter [--quick] [--json] [--kube-proxy] [--only PART,...]
 *
 * quick: a tenth of the services, few rounds, to see that it works. kube-proxy: kube-proxy itself in the
 * same run, built from its published Go module (needs Go and the module proxy; minutes at first). only:
 * these parts alone; a name that does not exist lists them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { iptablesFlags, measureIptables } from "./netfilter/iptables-part.ts";
import { measureKubeProxy } from "./netfilter/kube-proxy-part.ts";
import { measureLayouts, measureManyServices, measureNftables } from "./netfilter/nftables-part.ts";
import type { Part } from "./netfilter/setting.ts";
import { measureTrafficOf } from "./netfilter/traffic-part.ts";
import { type Figure, isMet, renderJson, renderTable } from "./support/report.ts";

const isQuick = process.argv.includes("--quick");
const KUBE_PROXY = "kube-proxy";

const PARTS: ReadonlyMap<string, Part> = new Map<string, Part>([
  ["nftables", measureNftables],
  ["layouts", measureLayouts],
  ["many", measureManyServices],
  ["iptables-legacy", (setting) => measureIptables(setting, "legacy")],
  ["iptables-nft", (setting) => measureIptables(setting, "nft")],
  ["traffic-nftables", (setting) => measureTrafficOf(setting, "nftables", "nftables", {})],
  [
    "traffic-iptables-legacy",
    (setting) => measureTrafficOf(setting, "iptables-legacy", "iptables", iptablesFlags("legacy")),
  ],
  [
    "traffic-iptables-nft",
    (setting) => measureTrafficOf(setting, "iptables-nft", "iptables", iptablesFlags("nft")),
  ],
  [KUBE_PROXY, measureKubeProxy],
]);

const wanted = wantedParts();
const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
try {
  const setting = {
    folder,
    services: isQuick ? 1000 : 10_000,
    smallServices: 100,
    manyServices: isQuick ? 5000 : 50_000,
    changes: isQuick ? 20 : 100,
    rounds: isQuick ? 1 : 3,
    seconds: 1,
  };
  const figures: Figure[] = [];
  for (const part of wanted) figures.push(...(await part(setting)));
  console.log(process.argv.includes("--json") ? renderJson(figures) : renderTable(figures));
  if (!figures.every(isMet)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function wantedParts(): readonly Part[] {
  const at = process.argv.indexOf("--only");
  const names =
    at >= 0
      ? (process.argv[at + 1] ?? "").split(",")
      : [...PARTS.keys()].filter(
          (name) => name !== KUBE_PROXY || process.argv.includes(`--${KUBE_PROXY}`),
        );
  return names.map((name) => {
    const part = PARTS.get(name);
    if (part !== undefined) return part;
    throw new Error(
      `--only: there is no part "${name}"; there are: ${[...PARTS.keys()].join(", ")}`,
    );
  });
}
