import type { Figure } from "../support/report.ts";
import { numbersFrom } from "../support/results.ts";
import { kubeProxyTask } from "./kube-proxy.ts";
import { most, progress, type Setting, within } from "./setting.ts";

const NUMBERS = ["firstMs", "cpuMs", "residentMegabytes"] as const;
const MODES = ["nftables", "iptables"] as const;

/** kube-proxy itself, where it can be built: what it says that its first syncs of the same state took. */
export async function measureKubeProxy(setting: Setting): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const mode of MODES) {
    const { task, args } = await kubeProxyTask(setting, mode, "once");
    progress(`kube-proxy in mode ${mode}`);
    const result = await within(async (namespace) =>
      numbersFrom(await namespace.runTask(task, args), NUMBERS),
    );
    figures.push(
      most(`kube-proxy, ${mode}: first sync of ${setting.services} services`, result.firstMs, "ms"),
      most("  its CPU", result.cpuMs, "ms"),
      most("  its memory", result.residentMegabytes, "MB"),
    );
  }
  return figures;
}
