/**
 * The kernel's rules for a node's services: how long nftables and iptables take to have them, beside
 * kube-proxy's layout and the tools by themselves, and what they cost the traffic. Needs root; all
 * happens in network namespaces that it makes.
 *
 *     npm run bench -- netfilter [--quick] [--json] [--kube-proxy] [--only PART,...]
 *
 * quick: a tenth of the services, few rounds, to see that it works. kube-proxy: kube-proxy itself in the
 * same run, its first syncs and the traffic through its services, built from its published Go module (needs Go and
 * the module proxy; minutes at first). only: these parts alone; a name that does not exist lists them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../src/core/errors.ts";
import { measureIptables } from "./netfilter/iptables-part.ts";
import { measureKubeProxy } from "./netfilter/kube-proxy-part.ts";
import { measureLayouts, measureManyServices, measureNftables } from "./netfilter/nftables-part.ts";
import { type Part, progress, type Setting } from "./netfilter/setting.ts";
import { measureIptablesTraffic, measureNftablesTraffic } from "./netfilter/traffic-part.ts";
import { type Figure, isMet, renderJson, renderTable } from "./support/report.ts";

const isQuick = process.argv.includes("--quick");
const KUBE_PROXY = "kube-proxy";
const hasKubeProxy = process.argv.includes(`--${KUBE_PROXY}`);
const WRONG_USAGE = 2;

const PARTS: ReadonlyMap<string, Part> = new Map<string, Part>([
  ["nftables", measureNftables],
  ["many", measureManyServices],
  ["iptables-legacy", (setting) => measureIptables(setting, "legacy")],
  ["iptables-nft", (setting) => measureIptables(setting, "nft")],
  ["traffic-nftables", measureNftablesTraffic],
  ["traffic-iptables-legacy", (setting) => measureIptablesTraffic(setting, "legacy")],
  ["traffic-iptables-nft", (setting) => measureIptablesTraffic(setting, "nft")],
  [KUBE_PROXY, measureKubeProxy],
  // The last one: the kernel may be busy for a while with what was cut.
  ["layouts", measureLayouts],
]);

const wanted = wantedParts();
const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

const setting: Setting = {
  folder,
  services: isQuick ? 1000 : 10_000,
  smallServices: 100,
  manyServices: isQuick ? 5000 : 50_000,
  changes: isQuick ? 20 : 100,
  rounds: isQuick ? 1 : 3,
  trafficRounds: isQuick ? 30 : 400,
  warmUpRounds: isQuick ? 25 : 100,
  hasKubeProxy,
};
const figures: Figure[] = [];
const failed: string[] = [];
for (const [name, part] of wanted) {
  progress(`${name}:`);
  try {
    figures.push(...(await part(setting)));
  } catch (error) {
    failed.push(`${name} failed: ${messageOf(error)}`);
  }
}
console.log(process.argv.includes("--json") ? renderJson(figures) : renderTable(figures));
for (const failure of failed) console.error(failure);
// Not held up by a program that was cut.
process.exit(failed.length === 0 && figures.every(isMet) ? 0 : 1);

function wantedParts(): readonly (readonly [string, Part])[] {
  const at = process.argv.indexOf("--only");
  const names =
    at >= 0
      ? (process.argv[at + 1] ?? "").split(",")
      : [...PARTS.keys()].filter((name) => name !== KUBE_PROXY || hasKubeProxy);
  return names.map((name) => {
    const part = PARTS.get(name);
    if (part !== undefined) return [name, part];
    console.error(`--only: there is no part "${name}"; there are: ${[...PARTS.keys()].join(", ")}`);
    return process.exit(WRONG_USAGE);
  });
}
