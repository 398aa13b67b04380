import { CoreError } from "../core/errors.ts";
import type { DirectCgroups } from "../platform/linux/direct-connect/direct-plane.ts";

export type DirectMode = "auto" | "off" | "on";

/** Options, as they are resolved. */
interface DirectValues {
  readonly directConnect: DirectMode;
  readonly directConnectCgroup: string | undefined;
  readonly directConnectWorkloads: string | undefined;
  readonly masqueradeAll: boolean;
}

/** Whether connections are to be direct, and whose. */
export interface DirectSetting {
  readonly mode: DirectMode;
  readonly cgroups: DirectCgroups;
}

/** @throws CoreError ERR_USAGE */
export function directSettingOf(
  options: DirectValues,
  { isForCleanup = false }: { readonly isForCleanup?: boolean } = {},
): DirectSetting {
  const { directConnectCgroup: node, directConnectWorkloads: workloads } = options;
  const mode = isForCleanup ? "off" : options.directConnect;
  if (mode !== "off" && workloads !== undefined && options.masqueradeAll) {
    throw new CoreError(
      "ERR_USAGE",
      `--direct-connect-workloads ${workloads}: not together with --masquerade-all; who is led to an endpoint calls it from its own address`,
    );
  }
  return { mode, cgroups: { node, workloads } };
}
