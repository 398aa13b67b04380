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
/** For one that is loaded in kube-proxy's layout. */
const LAYOUT_LIMIT_MS = 90_000;
const MS_PER_SECOND = 1000;

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

/** First sync beside the same state in kube-proxy's layout, which may take minutes to load. */
export async function measureLayouts(setting: Setting): Promise<readonly Figure[]> {
  const { services, rounds } = setting;
  const file = stateOf(setting, services);
  const own = await syncRounds(rounds, { backend: "nftables", file, changes: 1 });
  const firstMs = medianOf(own, "firstMs");
  const timesFaster = async (name: string, chainsPer: ChainsPer, limit?: number) => {
    const ms = await layoutMs(setting, file, chainsPer);
    const isCut = ms === undefined;
    return { ...least(name, (ms ?? LAYOUT_LIMIT_MS) / firstMs, "times", limit), isCut };
  };
  // The longer one comes last: where it is cut the kernel is still busy with it.
  const perService = await timesFaster(
    "  than kube-proxy's present layout (a chain per service)",
    "service",
  );
  const perEndpoint = await timesFaster(
    `nftables: first sync of ${services} services, times faster than a chain per service and endpoint`,
    "endpoint",
    TIMES_FASTER,
  );
  return [perEndpoint, perService, most("  itself", firstMs, "ms")];
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

/** How long `nft` takes to load the state in kube-proxy's layout; undefined where that is too long. */
async function layoutMs(
  { folder }: Setting,
  file: string,
  chainsPer: ChainsPer,
): Promise<number | undefined> {
  const limit = LAYOUT_LIMIT_MS / MS_PER_SECOND;
  progress(`nft -f with a chain per ${chainsPer}, for at most ${limit} s`);
  const ops = new NodeWatcher(createStoreFrom(file), NODE, []).poll() ?? [];
  const path = join(folder, `layout-${chainsPer}.nft`);
  writeFileSync(path, kubeProxyLayout(ops, chainsPer));
  const ms = await within((namespace) =>
    namespace.timeWithin(LAYOUT_LIMIT_MS, "nft", ["-f", path]),
  );
  progress(ms === undefined ? "  it had not ended" : `  ${Math.round(ms)} ms`);
  return ms;
}
