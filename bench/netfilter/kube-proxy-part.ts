import { ensureKubernetes } from "../support/ensure-go-program.ts";
import type { Figure } from "../support/report.ts";
import { numbersFrom } from "../support/results.ts";
import { most, NODE, progress, type Setting, stateOf, within } from "./setting.ts";

const TASK = new URL("./tasks/kube-proxy.js", import.meta.url);
const NUMBERS = ["firstMs", "cpuMs", "residentMegabytes"] as const;
const MODES = ["nftables", "iptables"] as const;

/** kube-proxy itself, where it can be built: what it says that its first syncs of the same state took. */
export async function measureKubeProxy(setting: Setting): Promise<readonly Figure[]> {
  progress("kube-proxy: building it from its Go module");
  const program = await ensureKubernetes("kube-proxy", progress);
  const file = stateOf(setting, setting.services);
  const figures: Figure[] = [];
  for (const mode of MODES) {
    progress(`kube-proxy in mode ${mode}`);
    const result = await within(async (namespace) =>
      numbersFrom(await namespace.runTask(TASK, [program, mode, file, NODE]), NUMBERS),
    );
    figures.push(
      most(`kube-proxy, ${mode}: first sync of ${setting.services} services`, result.firstMs, "ms"),
      most("  its CPU", result.cpuMs, "ms"),
      most("  its memory", result.residentMegabytes, "MB"),
    );
  }
  return figures;
}
