import type { Log } from "../../core/log.ts";
import type { Sysctl } from "./sysctl.ts";

const ROUTE_LOCALNET = "net.ipv4.conf.all.route_localnet";

/** What `openLoopback` would do, as a line for people; empty where there is nothing to do. */
export async function planLoopback({ read }: Pick<Sysctl, "read">): Promise<string> {
  return (await read(ROUTE_LOCALNET)) === "1" ? "" : `# sysctl -w ${ROUTE_LOCALNET}=1\n`;
}

/**
 * Lets rules send packets for loopback addresses elsewhere, which the kernel drops otherwise. Others on
 * the network could then reach what listens on loopback only: whoever calls this keeps them away.
 * @throws CoreError ERR_SYSTEM_CALL
 */
export async function openLoopback(sysctl: Sysctl, log: Log, backend: string): Promise<void> {
  if (!(await sysctl.ensure(ROUTE_LOCALNET, "1"))) return;
  log.info({ backend }, `${ROUTE_LOCALNET} was set to 1, so that services answer on 127.0.0.1`);
}
