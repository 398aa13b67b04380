import { CoreError } from "../../core/errors.ts";
import { FAMILIES } from "../../core/model/address.ts";
import type { IptablesMode } from "../../platform/linux/iptables/iptables-tool.ts";
import { refuseKubeProxy } from "../../platform/linux/kube-proxy-presence.ts";
import type { Backend, BackendContext } from "../backend.ts";
import { chooseIptablesMode } from "../choose-iptables-mode.ts";
import { DirectKeeper } from "../direct-keeper.ts";
import { directSettingOf } from "../direct-setting.ts";
import { FastKeeper } from "../fast-keeper.ts";
import type { IptablesValues } from "./create-context.ts";
import { IptablesBackend } from "./iptables-backend.ts";
import type { IptablesWorld } from "./iptables-world.ts";
import { OWN_RULES } from "./own-rules.ts";
import { type WritableFamilies, writableFamilies } from "./writable-families.ts";

const NAME = "iptables";
/** More often, rules would be read all the time. */
const MIN_SYNC_PERIOD_MS = 1000;

/**
 * @throws CoreError ERR_NOT_POSSIBLE_HERE where another instance or a kube-proxy runs, or rules can not be
 *   changed, or connections have to be direct and can not be; ERR_USAGE where an option is not valid
 */
export async function createIptablesBackend(
  options: IptablesValues,
  context: BackendContext,
  world: IptablesWorld,
): Promise<Backend> {
  checkSyncPeriod(options.iptablesSyncPeriod);
  const setting = directSettingOf(options, context);
  const lock = world.takeLock(context.isForCleanup === true);
  try {
    if (!options.takeOver) await refuseKubeProxy(world.findKubeProxy);
    const mode = await chooseIptablesMode(NAME, options.iptablesMode, world.exec, context.log);
    const writable = await familiesFor(mode, context, world);
    const direct = await DirectKeeper.start({
      ...setting,
      onStatus: context.onStatus,
      families: writable.families,
      open: world.openDirect,
      log: context.log,
      backend: NAME,
    });
    const fast = await FastKeeper.startAfter(direct, {
      mode: context.isForCleanup === true ? "off" : options.fastPath,
      world: world.fast,
      own: OWN_RULES,
      sysctl: world.sysctl,
      log: context.log,
      backend: NAME,
      onStatus: context.onStatus,
    });
    return new IptablesBackend({ options, context, world, lock, mode, direct, fast, ...writable });
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Clean-up looks for the rules of all, whatever can be written here. */
async function familiesFor(
  mode: IptablesMode,
  { isForCleanup = false, log }: BackendContext,
  { exec, sysctl }: IptablesWorld,
): Promise<WritableFamilies> {
  if (isForCleanup) return { families: FAMILIES };
  const writable = await writableFamilies(mode, exec, sysctl);
  const { withoutV6 } = writable;
  if (withoutV6 !== undefined) {
    log.warn({ backend: NAME }, `only IPv4 is served: ${withoutV6}`);
  }
  return writable;
}

function checkSyncPeriod(periodMs: number): void {
  if (periodMs >= MIN_SYNC_PERIOD_MS) return;
  throw new CoreError(
    "ERR_USAGE",
    `--iptables-sync-period: "${periodMs}ms" is too short; expected 1s or more, such as 30s`,
  );
}
