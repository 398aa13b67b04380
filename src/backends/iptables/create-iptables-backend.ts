import { CoreError } from "../../core/errors.ts";
import type { Exec } from "../../platform/linux/exec.ts";
import type { Backend, BackendContext } from "../backend.ts";
import type { IptablesValues } from "./create-context.ts";
import { detectMode } from "./detect-mode.ts";
import { IptablesBackend } from "./iptables-backend.ts";
import type { IptablesMode } from "./iptables-tool.ts";
import type { IptablesWorld } from "./iptables-world.ts";
import { refuseKubeProxy } from "./kube-proxy-presence.ts";

/** @throws CoreError ERR_NOT_POSSIBLE_HERE where another instance or a kube-proxy runs */
export async function createIptablesBackend(
  options: IptablesValues,
  context: BackendContext,
  world: IptablesWorld,
): Promise<Backend> {
  const lock = world.takeLock();
  try {
    if (!options.takeOver) await refuseKubeProxy(world.findKubeProxy);
    const mode = await modeOf(options.iptablesMode, world.exec, context);
    return new IptablesBackend(options, context, world, lock, mode);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function modeOf(
  wanted: IptablesValues["iptablesMode"],
  exec: Exec,
  { log }: BackendContext,
): Promise<IptablesMode> {
  if (wanted !== "auto") return wanted;
  const detected = await detectMode(exec);
  if (detected === undefined) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      "neither iptables-nft-save nor iptables-legacy-save work here; install iptables, and run as root",
    );
  }
  const { mode, because } = detected;
  log.info({ backend: "iptables", mode, because }, `iptables-${mode} is used: ${because}`);
  return mode;
}
