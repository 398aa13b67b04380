import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";
import { createStoreFrom } from "../support/cluster-store.ts";
import { median } from "../support/measure.ts";
import type { Figure } from "../support/report.ts";
import { type ChainsPer, kubeProxyLayout } from "./kube-proxy-layout.ts";
import { least, most, NODE, progress, type Setting, stateOf, within } from "./setting.ts";
import { type SyncResult, syncOnce, syncRounds } from "./sync-once.ts";

const TIMES_FASTER = 20;
const CHANGE_MS = 10;
const CHANGE_TIMES = 1.5;
const MANY_MS = 10_000;

type Results = readonly SyncResult[];

function medianOf(results: Results, name: keyof SyncResult): number {
  return median(results.map((one) => one[name]));
}

/** First sync, and one endpoint's change. */
export async function measureNftables(setting: Setting): Promise<readonly Figure[]> {
  const { services, smallServices, rounds, changes } = setting;
  const run = (file: string) => syncRounds(rounds, { backend: "nftables", file, changes });
  const smallOnes = await run(stateOf(setting, smallServices));
  const largeOnes = await run(stateOf(setting, services));
  const changeMs = medianOf(largeOnes, "changeMs");
  return [
    most(`nftables: first sync of ${services} services`, medianOf(largeOnes, "firstMs"), "ms"),
    most("  Portolan's own CPU", medianOf(largeOnes, "firstCpuMs"), "ms"),
    most("  Portolan's memory", medianOf(largeOnes, "residentMegabytes"), "MB"),
    most(`nftables: one endpoint's change at ${services} services`, changeMs, "ms", CHANGE_MS),
    most(
      `  against ${smallServices} services`,
      changeMs / medianOf(smallOnes, "changeMs"),
      "times",
      CHANGE_TIMES,
    ),
  ];
}

/** First sync beside the same state in kube-proxy's layout, which takes minutes to load. */
export async function measureLayouts(setting: Setting): Promise<readonly Figure[]> {
  const { services, rounds } = setting;
  const file = stateOf(setting, services);
  const own = await syncRounds(rounds, { backend: "nftables", file, changes: 1 });
  const firstMs = medianOf(own, "firstMs");
  const ratioTo = async (chainsPer: ChainsPer) =>
    (await layoutMs(setting, file, chainsPer)) / firstMs;
  return [
    least(
      `nftables: first sync of ${services} services, times faster than a chain per service and endpoint`,
      await ratioTo("endpoint"),
      "times",
      TIMES_FASTER,
    ),
    least(
      "  than kube-proxy's present layout (a chain per service)",
      await ratioTo("service"),
      "times",
    ),
    most("  itself", firstMs, "ms"),
  ];
}

/** First sync of very many services, and a restart with them. */
export async function measureManyServices(setting: Setting): Promise<readonly Figure[]> {
  const { manyServices } = setting;
  const file = stateOf(setting, manyServices);
  const many = await syncOnce({ backend: "nftables", file, changes: 0 });
  return [
    most(`nftables: first sync of ${manyServices} services`, many.firstMs, "ms", MANY_MS),
    most("  Portolan's own CPU", many.firstCpuMs, "ms"),
    most("  Portolan's memory", many.residentMegabytes, "MB"),
    most("  a restart with the same state", many.restartMs, "ms"),
    most("  of which programs of the system", many.restartToolMs, "ms"),
  ];
}

/** How long `nft` takes to load the state in kube-proxy's layout. */
async function layoutMs({ folder }: Setting, file: string, chainsPer: ChainsPer): Promise<number> {
  progress(`nft -f with a chain per ${chainsPer}`);
  const ops = new NodeWatcher(createStoreFrom(file), NODE, []).poll() ?? [];
  const path = join(folder, `layout-${chainsPer}.nft`);
  writeFileSync(path, kubeProxyLayout(ops, chainsPer));
  return within((namespace) => namespace.timeMs("nft", ["-f", path]));
}
