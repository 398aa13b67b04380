import process from "node:process";
import type { Log } from "../core/log.ts";
import type { InstanceConfig } from "../daemon/config.ts";
import { createDeps } from "../daemon/create-deps.ts";
import { listenForEnd } from "../daemon/end-requests.ts";
import { createLogger } from "../daemon/logger.ts";
import { type RunOptions, runInstance } from "../daemon/run-instance.ts";
import type { CliContext } from "./command-spec.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { loadNotifier } from "./load-notifier.ts";

export interface DaemonOptions extends RunOptions {
  /** Whether something else shows what is logged, at this moment. */
  readonly isLogShown?: () => boolean;
}

/** The daemon in this process, until it is asked to end. @returns the exit code */
export async function runDaemon(
  config: InstanceConfig,
  { stdout, stderr, environment }: CliContext,
  options: DaemonOptions = {},
): Promise<number> {
  const { logLevel: level, logFormat: format } = config.values;
  const logger = await createLogger({ level, format, isTerminal: stderr.isTTY === true });
  const log = options.isLogShown === undefined ? logger : unless(options.isLogShown, logger);
  const deps = createDeps(log, stdout);
  if (config.values.dryRun) {
    const { dryRun } = await import("../daemon/dry-run.ts");
    stdout.write(await dryRun(config, deps));
    return EXIT_OK;
  }
  const end = listenForEnd({
    signals: process,
    stdout,
    log,
    hasTerminal: stderr.isTTY === true,
    exit: (code) => process.exit(code),
  });
  try {
    const notifier = await loadNotifier(environment, log);
    const { exitCode, isClean } = await runInstance(config, deps, end, {
      ...options,
      ...(notifier && { notifier }),
    });
    return isClean ? exitCode : process.exit(exitCode);
  } finally {
    end.dispose();
  }
}

function unless(isShown: () => boolean, log: Log): Log {
  const at =
    (level: keyof Log) =>
    (fields: object, message: string): void => {
      if (!isShown()) log[level](fields, message);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
