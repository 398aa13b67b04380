import { CoreError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Exec } from "../platform/linux/exec.ts";
import { detectMode } from "../platform/linux/iptables/detect-mode.ts";
import type { IptablesMode } from "../platform/linux/iptables/iptables-tool.ts";

/**
 * Which of the two implementations is used; what is found out is told.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE where neither is there
 */
export async function chooseIptablesMode(
  backend: string,
  wanted: "auto" | IptablesMode,
  exec: Exec,
  log: Log,
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
  log.info({ backend, mode, because }, `iptables-${mode} is used: ${because}`);
  return mode;
}
