import process from "node:process";
import { formatListenAddress } from "../../core/options/listen-address.ts";
import type { JoinOrder } from "../../daemon/edge/membership/enter-edge.ts";
import type { EdgeSettings } from "../../daemon/edge/resolve-settings.ts";
import { listenForEnd } from "../../daemon/end-requests.ts";
import { createLogger } from "../../daemon/logger.ts";
import { LOG_OPTIONS } from "../../daemon/options.ts";
import type { CommandInput } from "../command-spec.ts";
import { resolveFlags } from "../flags.ts";
import { loadNotifier } from "../load-notifier.ts";

/** Runs a node until it is asked to end; its workloads stay connected. */
export async function serveEdgeNode(
  settings: EdgeSettings,
  input: CommandInput,
  join?: JoinOrder,
): Promise<number> {
  const { stdout, stderr, environment, hostName } = input.context;
  const { logLevel: level, logFormat: format } = resolveFlags(LOG_OPTIONS, input);
  const log = await createLogger({ level, format, isTerminal: stderr.isTTY === true });
  const end = listenForEnd({
    signals: process,
    stdout,
    log,
    hasTerminal: stderr.isTTY === true,
    exit: (code) => process.exit(code),
  });
  try {
    const { startEdgeNode } = await import("../../daemon/edge/edge-node.ts");
    const node = await startEdgeNode(settings, { log, hostName, join });
    const notifier = await loadNotifier(environment, log);
    notifier?.ready();
    const unwatch = notifier?.watch(() => true);
    const where = node.addresses.map(formatListenAddress);
    stdout.write(`edge node: REST API on ${where.join(" and ")}\n`);
    const { reason, exitCode } = await end.asked;
    log.info({ reason }, "ending; workloads stay connected");
    notifier?.stopping();
    unwatch?.();
    await node.close();
    return exitCode;
  } finally {
    end.dispose();
  }
}
