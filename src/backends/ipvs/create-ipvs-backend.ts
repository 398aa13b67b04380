import { refuseKubeProxy } from "../../platform/linux/kube-proxy-presence.ts";
import type { Backend, BackendContext } from "../backend.ts";
import { chooseIptablesMode } from "../choose-iptables-mode.ts";
import { IpvsBackend } from "./ipvs-backend.ts";
import { prepareModules } from "./kernel/modules.ts";
import { type IpvsValues, settingsOf } from "./settings.ts";
import type { IpvsWorld } from "./world.ts";

/**
 * Takes the only place of its kind in the network namespace; the kernel is not touched before the first
 * state comes.
 * @throws CoreError ERR_USAGE, or ERR_NOT_POSSIBLE_HERE where the kernel has no IPVS, or another instance
 *   or a kube-proxy runs
 */
export async function createIpvsBackend(
  options: IpvsValues,
  context: BackendContext,
  world: IpvsWorld,
): Promise<Backend> {
  const settings = settingsOf(options);
  const { isForCleanup = false, log } = context;
  const lock = world.takeLock(isForCleanup);
  try {
    if (!options.takeOver) await refuseKubeProxy(world.findKubeProxy);
    // Clean-up looks at the rules of all modes, and needs neither tools nor IPVS where there are none.
    const mode = isForCleanup
      ? "nft"
      : await chooseIptablesMode("ipvs", options.iptablesMode, world.exec, log);
    if (!isForCleanup) await prepareModules(world.modules, settings.scheduler, log);
    const platform = await (isForCleanup ? world.openLeftovers() : world.openPlatform());
    const minSyncPeriodMs = options.ipvsMinSyncPeriod;
    return new IpvsBackend({ settings, minSyncPeriodMs, context, world, platform, lock, mode });
  } catch (error) {
    lock.release();
    throw error;
  }
}
