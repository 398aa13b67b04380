import { mkdtempSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { IptablesMode } from "../../src/platform/linux/iptables/iptables-tool.ts";
import { ensureKubernetes } from "../support/ensure-go-program.ts";
import { pathOfProgram } from "../support/path-of-program.ts";
import { NODE, progress, type Setting, stateOf } from "./setting.ts";

const TASK = new URL("./tasks/kube-proxy.js", import.meta.url);
const PROGRAMS = ["iptables", "ip6tables"] as const;
const PURPOSES = ["", "-restore", "-save"] as const;

export type KubeProxyMode = "nftables" | "iptables";

/**
 * What runs kube-proxy on the services of this benchmark, built unless it is there already.
 * @param tools which programs of iptables it finds; those of the system where it is not given
 */
export async function kubeProxyTask(
  setting: Setting,
  mode: KubeProxyMode,
  until: "once" | "stay",
  tools?: IptablesMode,
): Promise<{ readonly task: URL; readonly args: readonly string[] }> {
  const program = await ensureKubernetes("kube-proxy", progress);
  const file = stateOf(setting, setting.services);
  const folder = tools === undefined ? "" : toolsFolder(setting.folder, tools);
  return { task: TASK, args: [program, mode, file, NODE, until, folder] };
}

/** Where programs of iptables are those of one kind, under the names that everybody calls. */
function toolsFolder(parent: string, tools: IptablesMode): string {
  const folder = mkdtempSync(join(parent, "tools-"));
  for (const program of PROGRAMS) {
    for (const purpose of PURPOSES) {
      const path = pathOfProgram(`${program}-${tools}${purpose}`);
      symlinkSync(path, join(folder, `${program}${purpose}`));
    }
  }
  return folder;
}
