import { openIpSets } from "../../platform/linux/ipset/ip-sets.ts";
import { openIpvsTable } from "../../platform/linux/ipvs/ipvs-table.ts";
import { openServiceLink } from "../../platform/linux/links/service-link.ts";
import { LINK_NAME } from "./kernel/platform.ts";
import type { KubeProxyTraces } from "./remove-kube-proxy-servers.ts";

/** Of the network namespace that this thread is in. @throws CoreError ERR_SYSTEM_CALL */
export function openKubeProxyTraces(): KubeProxyTraces & { close(): void } {
  const [link, sets] = [openServiceLink(LINK_NAME), openIpSets()];
  const close = (): void => {
    link.close();
    sets.close();
  };
  return { link, sets, openIpvs: openIpvsTable, close };
}
