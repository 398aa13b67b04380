import { readdir } from "node:fs/promises";
import type { Family } from "../../core/model/address.ts";
import type { Sysctl } from "../../platform/linux/sysctl.ts";

const FORWARDING = { v4: "net.ipv4.ip_forward", v6: "net.ipv6.conf.all.forwarding" } as const;

/**
 * Lets the machine pass packets on. A machine that does so for IPv6 no longer listens to routers, and
 * would lose the address and the default route that it has from them: links that listened go on.
 * @throws CoreError ERR_SYSTEM_CALL
 */
export async function enableForwarding(
  sysctl: Sysctl,
  families: readonly Family[],
  listLinks: () => Promise<readonly string[]> = () => readdir("/proc/sys/net/ipv6/conf"),
): Promise<void> {
  for (const family of families) {
    if ((await sysctl.read(FORWARDING[family])) === "1") continue;
    if (family === "v6") {
      for (const link of await listLinks()) {
        // The name of a link may hold a dot, which this path would take for a step.
        const setting = `net.ipv6.conf.${link}.accept_ra`;
        if (!link.includes(".") && (await sysctl.read(setting)) === "1") {
          await sysctl.ensure(setting, "2");
        }
      }
    }
    await sysctl.ensure(FORWARDING[family], "1");
  }
}
