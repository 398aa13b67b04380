/**
 * The kernel's rules for a node's services: how long nftables and iptables take to have them, beside
 * kube-proxy's layout and the tools by themselves, and what they cost the traffic. Needs root; all
 * happens in network namespaces that it makes.
 *
 *     npm run bench -- netfilter [--quick] [--json] [--kube-proxy]
 *
 * quick: a tenth of the services, few rounds, to see that it works. kube-proxy: kube-proxy itself in the
 * same run, built from its published Go module (needs Go and the module proxy; minutes at first).
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { NodeWatcher } from "../src/core/view/node-watcher.ts";
import { ensureKubeProxy } from "./netfilter/ensure-kube-proxy.ts";
import { type ChainsPer, kubeProxyLayout } from "./netfilter/kube-proxy-layout.ts";
import { measureKubeProxy } from "./netfilter/measure-kube-proxy.ts";
import { Namespace } from "./netfilter/namespaces.ts";
import { measureTraffic, type TrafficResult, targetManifests } from "./netfilter/traffic.ts";
import { nodeName } from "./support/cluster.ts";
import { createStoreFrom } from "./support/cluster-store.ts";
import { asJson, createManifests } from "./support/manifests.ts";
import { median } from "./support/measure.ts";
import { type Figure, isMet, renderJson, renderTable } from "./support/report.ts";
import { numbersFrom } from "./support/results.ts";

const isQuick = process.argv.includes("--quick");
const isWithKubeProxy = process.argv.includes("--kube-proxy");
const SERVICES = isQuick ? 1000 : 10_000;
const SMALL_SERVICES = 100;
const MANY_SERVICES = isQuick ? 5000 : 50_000;
const ENDPOINTS = 3;
const NODES = 100;
const CHANGES = isQuick ? 20 : 100;
const ROUNDS = isQuick ? 1 : 3;
const SECONDS = isQuick ? 1 : 3;
const NODE = nodeName(0);
const SYNC = new URL("./netfilter/tasks/sync.js", import.meta.url);
const SYNC_NUMBERS = [
  "firstMs",
  "firstToolMs",
  "firstCpuMs",
  "changeMs",
  "changeOwnMs",
  "residentMegabytes",
  "restartMs",
  "restartToolMs",
] as const;

type SyncResult = Readonly<Record<(typeof SYNC_NUMBERS)[number], number>>;

/** The variants of iptables, as flags of the backend. */
const IPTABLES_MODES = ["legacy", "nft"] as const;

const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
try {
  const state = { small: stateOf(SMALL_SERVICES), large: stateOf(SERVICES) };
  const figures: Figure[] = [
    ...(await measureNftables(state)),
    ...(await measureIptables(state)),
    ...(await measureTrafficOf(state.large, "nftables", "nftables", {})),
  ];
  for (const mode of IPTABLES_MODES) {
    const flags = iptablesFlags(mode);
    figures.push(...(await measureTrafficOf(state.large, `iptables-${mode}`, "iptables", flags)));
  }
  if (isWithKubeProxy) figures.push(...(await measureKubeProxyOf(state.large)));
  console.log(process.argv.includes("--json") ? renderJson(figures) : renderTable(figures));
  if (!figures.every(isMet)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

interface States {
  readonly small: string;
  readonly large: string;
}

async function measureNftables({ small, large }: States): Promise<readonly Figure[]> {
  const smallOnes = await rounds(() => syncOnce("nftables", small, CHANGES));
  const largeOnes = await rounds(() => syncOnce("nftables", large, CHANGES));
  const many = await syncOnce("nftables", stateOf(MANY_SERVICES), 0);
  const firstMs = median(largeOnes.map((one) => one.firstMs));
  const changeMs = median(largeOnes.map((one) => one.changeMs));
  const ratioTo = async (chainsPer: ChainsPer) => (await layoutMs(large, chainsPer)) / firstMs;
  return [
    least(
      `nftables: first sync of ${SERVICES} services, times faster than a chain per service and endpoint`,
      await ratioTo("endpoint"),
      "times",
      20,
    ),
    least(
      "  than kube-proxy's present layout (a chain per service)",
      await ratioTo("service"),
      "times",
    ),
    most("  itself", firstMs, "ms"),
    most("  Portolan's own CPU", median(largeOnes.map((one) => one.firstCpuMs)), "ms"),
    most("  Portolan's memory", median(largeOnes.map((one) => one.residentMegabytes)), "MB"),
    most(`nftables: one endpoint's change at ${SERVICES} services`, changeMs, "ms", 10),
    most(
      `  against ${SMALL_SERVICES} services`,
      changeMs / median(smallOnes.map((one) => one.changeMs)),
      "times",
      1.5,
    ),
    most(`nftables: first sync of ${MANY_SERVICES} services`, many.firstMs, "ms", 10_000),
    most("  a restart with the same state", many.restartMs, "ms"),
    most("  of which nft lists the tables", many.restartToolMs, "ms"),
  ];
}

async function measureIptables({ large }: States): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const mode of IPTABLES_MODES) {
    const flags = iptablesFlags(mode);
    const results = await rounds(() => syncOnce("iptables", large, CHANGES, flags));
    const first = results.map(({ firstMs, firstToolMs }) => firstMs - 1.1 * firstToolMs);
    const name = `iptables-${mode}`;
    figures.push(
      most(
        `${name}: first sync of ${SERVICES} services`,
        median(results.map((one) => one.firstMs)),
        "ms",
      ),
      most("  beyond 1.1 times the tool's own time", median(first), "ms", 1000),
      most("  Portolan's own CPU", median(results.map((one) => one.firstCpuMs)), "ms"),
      most("  Portolan's memory", median(results.map((one) => one.residentMegabytes)), "MB"),
      most(`${name}: one endpoint's change`, median(results.map((one) => one.changeMs)), "ms"),
      most("  beyond the tool's own time", median(results.map((one) => one.changeOwnMs)), "ms", 20),
    );
  }
  return figures;
}

async function measureTrafficOf(
  file: string,
  name: string,
  backend: string,
  flags: Readonly<Record<string, string>>,
): Promise<readonly Figure[]> {
  progress(`${name}: traffic through ${SERVICES} services`);
  const result: TrafficResult = await measureTraffic(
    folder,
    { rounds: ROUNDS, seconds: SECONDS },
    async (node) => {
      await node.runTask(SYNC, [backend, file, NODE, "0", JSON.stringify(flags)]);
    },
  );
  return [
    least(`${name}: requests a second, to no proxy at all`, median(result.keepAlive), "times", 0.9),
    least("  short connections", median(result.short), "times"),
    most("  until a connection stands", result.connectMicroseconds, "µs"),
    most("  the same without a proxy", result.plainMicroseconds, "µs"),
  ];
}

/** kube-proxy itself, where it can be built: how long its own first sync of the same state takes. */
async function measureKubeProxyOf(file: string): Promise<readonly Figure[]> {
  progress("kube-proxy: building it from its Go module");
  const program = await ensureKubeProxy(progress);
  const figures: Figure[] = [];
  for (const mode of ["nftables", "iptables"] as const) {
    progress(`kube-proxy in mode ${mode}: ${basename(file)}`);
    const result = await within((namespace) =>
      measureKubeProxy({ namespace, program, mode, file, node: NODE }),
    );
    figures.push(
      most(`kube-proxy, ${mode}: first sync of ${SERVICES} services`, result.firstMs, "ms"),
      most("  its CPU", result.cpuMs, "ms"),
      most("  its memory", result.residentMegabytes, "MB"),
    );
  }
  return figures;
}

/** Without the pause between changes that it makes by default: it would be measured too. */
function iptablesFlags(mode: (typeof IPTABLES_MODES)[number]): Readonly<Record<string, string>> {
  return { iptablesMode: mode, iptablesMinSyncPeriod: "0s" };
}

/** How long `nft` takes to load the state in kube-proxy's layout. */
async function layoutMs(file: string, chainsPer: ChainsPer): Promise<number> {
  progress(`nft -f with a chain per ${chainsPer}`);
  const ops = new NodeWatcher(createStoreFrom(file), NODE, []).poll() ?? [];
  const path = join(folder, `layout-${chainsPer}.nft`);
  writeFileSync(path, kubeProxyLayout(ops, chainsPer));
  return within((namespace) => namespace.timeMs("nft", "-f", path));
}

/** @param changes of one endpoint each; none: a restart is measured in their place */
async function syncOnce(
  backend: string,
  file: string,
  changes: number,
  flags: Readonly<Record<string, string>> = {},
): Promise<SyncResult> {
  progress(`${backend} ${flags["iptablesMode"] ?? ""}: ${basename(file)}`);
  return within(async (namespace) =>
    numbersFrom(
      await namespace.runTask(SYNC, [backend, file, NODE, String(changes), JSON.stringify(flags)]),
      SYNC_NUMBERS,
    ),
  );
}

/** In a namespace of its own, which ends with it. */
async function within<T>(work: (namespace: Namespace) => T | Promise<T>): Promise<T> {
  const namespace = Namespace.create("sync");
  try {
    return await work(namespace);
  } finally {
    namespace.remove();
  }
}

async function rounds<T>(work: () => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  for (let round = 0; round < ROUNDS; round += 1) results.push(await work());
  return results;
}

function stateOf(services: number): string {
  const path = join(folder, `${services}.json`);
  const size = { services, endpointsPerService: ENDPOINTS, nodes: NODES, zones: 10 };
  writeFileSync(path, asJson([...createManifests(size), ...targetManifests()]));
  return path;
}

function most(name: string, value: number, unit: string, limit?: number): Figure {
  return { name, value, unit, limit };
}

function least(name: string, value: number, unit: string, limit?: number): Figure {
  return { name, value, unit, limit, bound: "least" };
}

function progress(text: string): void {
  console.error(`netfilter: ${text}`);
}
