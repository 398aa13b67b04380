import process from "node:process";
import type { Log } from "../core/log.ts";
import { createNotifier, type ServiceNotifier } from "../daemon/service-notifier.ts";
import type { CliContext } from "./command-spec.ts";

/** Undefined where no service manager started this. */
export async function loadNotifier(
  environment: CliContext["environment"],
  log: Log,
): Promise<ServiceNotifier | undefined> {
  const path = environment["NOTIFY_SOCKET"] ?? "";
  if (path === "" || process.platform !== "linux") return undefined;
  const { sendUnixDatagram } = await import("../platform/linux/unix-datagram.ts");
  return createNotifier({ environment, pid: process.pid, log, send: sendUnixDatagram });
}
